// Plays a scenario's steps with grpc-go alone; messages are dynamic.
package main

import (
	"context"
	"encoding/json"
	"os"
	"sort"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"ingot/tests/clients/steps"
)

const (
	keepAlive   = 10 * time.Second // the least that grpc-go allows
	cancelAfter = 50 * time.Millisecond
)

type player struct {
	channel *grpc.ClientConn
	files   *protoregistry.Files
}

func dial(endpoint string, options ...grpc.DialOption) *grpc.ClientConn {
	channel, err := grpc.Dial(endpoint, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	steps.Require(err)
	return channel
}

func readDescriptors(path string) *protoregistry.Files {
	bytes, err := os.ReadFile(path)
	steps.Require(err)
	var set descriptorpb.FileDescriptorSet
	steps.Require(proto.Unmarshal(bytes, &set))
	files, err := protodesc.NewFiles(&set)
	steps.Require(err)
	return files
}

// messages are the step's request and an empty response.
func (p *player) messages(step steps.Step) (request, response *dynamicpb.Message) {
	name := protoreflect.FullName(strings.ReplaceAll(step.Method, "/", "."))
	found, err := p.files.FindDescriptorByName(name)
	steps.Require(err)
	method := found.(protoreflect.MethodDescriptor)
	request = dynamicpb.NewMessage(method.Input())
	steps.Require(protojson.Unmarshal(step.Request, request))
	return request, dynamicpb.NewMessage(method.Output())
}

func answer(response proto.Message, err error) steps.Answer {
	if err != nil {
		return steps.Answer{Code: status.Code(err).String(), Text: status.Convert(err).Message()}
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(response)
	steps.Require(err)
	return steps.Answer{Code: "OK", Text: string(text)}
}

func (p *player) context(step steps.Step) (context.Context, context.CancelFunc) {
	ctx := context.Background()
	for name, value := range step.Metadata {
		ctx = metadata.AppendToOutgoingContext(ctx, name, value)
	}
	if step.DeadlineMs > 0 {
		return context.WithTimeout(ctx, time.Duration(step.DeadlineMs)*time.Millisecond)
	}
	return context.WithCancel(ctx)
}

func (p *player) call(step steps.Step, options ...grpc.CallOption) steps.Answer {
	ctx, cancel := p.context(step)
	defer cancel()
	if step.Gzip {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	request, response := p.messages(step)
	return answer(response, p.channel.Invoke(ctx, step.Path, request, response, options...))
}

func names(received metadata.MD) []string {
	found := []string{}
	for name := range received {
		found = append(found, name)
	}
	sort.Strings(found)
	return found
}

// headers are the names of what the server sends before and behind the answer, and the code.
func (p *player) headers(step steps.Step) steps.Answer {
	var headers, trailers metadata.MD
	code := p.call(step, grpc.Header(&headers), grpc.Trailer(&trailers)).Code
	text, err := json.Marshal(map[string]any{"code": code, "headers": names(headers), "trailers": names(trailers)})
	steps.Require(err)
	return steps.Answer{Code: "OK", Text: string(text)}
}

// held opens a call and, once between has returned, sends the request; between may cancel.
func (p *player) held(step steps.Step, send bool, between func(cancel context.CancelFunc)) steps.Answer {
	ctx, cancel := p.context(step)
	defer cancel()
	request, response := p.messages(step)
	stream, err := p.channel.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, step.Path)
	if err != nil {
		return answer(nil, err)
	}
	between(cancel)
	if send {
		// An error of these two is told by RecvMsg.
		if stream.SendMsg(request) == nil {
			_ = stream.CloseSend()
		}
	}
	return answer(response, stream.RecvMsg(response))
}

func (p *player) play(step steps.Step) steps.Answer {
	switch step.Do {
	case "call":
		return p.call(step)
	case "headers":
		return p.headers(step)
	case "deadline":
		return p.held(step, false, func(context.CancelFunc) {})
	case "cancel":
		return p.held(step, false, func(cancel context.CancelFunc) { time.Sleep(cancelAfter); cancel() })
	case "keepalive":
		return p.held(step, true, func(context.CancelFunc) { time.Sleep(time.Duration(step.WaitMs) * time.Millisecond) })
	case "parallel":
		return steps.Parallel(step.Count, func() steps.Answer { return p.call(step) })
	case "until":
		return steps.Until(step.Step, func(context.Context) steps.Answer { return p.call(step) })
	}
	return steps.Answer{Code: "SKIPPED", Text: ""}
}

func main() {
	endpoint, descriptors, all := steps.Arguments()
	p := player{dial(endpoint), readDescriptors(descriptors)}
	pinging := player{dial(endpoint, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive})), p.files}
	for _, step := range all {
		if step.Do == "keepalive" {
			steps.Print(step.Step, pinging.play(step))
		} else {
			steps.Print(step.Step, p.play(step))
		}
	}
}
