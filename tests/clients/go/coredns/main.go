// Command coredns is CoreDNS with its etcd plugin, and without those that need a cloud's libraries.
package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/etcd"
)

func main() {
	coremain.Run()
}
