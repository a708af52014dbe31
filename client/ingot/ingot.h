/* libingot: reads the keys of an Ingot instance on this machine in place, from shared memory, without a call.
 *
 *   ingot_view* view;
 *   if (ingot_open(NULL, NULL, &view, NULL, 0) == INGOT_OK) {
 *     ingot_entry entry;
 *     if (ingot_get(view, "flag", 4, &entry) == INGOT_OK) printf("%.*s\n", (int)entry.value_size, entry.value);
 *     ingot_close(view);
 *   }
 *
 * What a view shows was decided by the instance's replicas: all of a transaction or nothing of it. It is some
 * milliseconds old; a view never goes back in time. docs/libingot.md has the reference, docs/views.md what a view is.
 *
 * Threads: a view, and an answer, is for one thread at a time; open a view for each thread. The library starts no
 * thread, installs no signal handler and takes no lock.
 * Fork: parent and child both go on with a view, and the child need do nothing. Exceptions: a view or an answer that
 * another thread was using at the moment of the fork; and ingot_wait_fd(), which the child calls again.
 * Sizes are in bytes, times in milliseconds. Keys and values may have any bytes; strings that end with a zero byte are
 * marked as such. A null pointer is allowed where its size is 0.
 */
#ifndef INGOT_H
#define INGOT_H

#include <stddef.h>
#include <stdint.h>

#define INGOT_VERSION_MAJOR 0
#define INGOT_VERSION_MINOR 1
#define INGOT_VERSION_PATCH 0
#define INGOT_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library that the program runs with: "0.1.0". */
const char* ingot_version(void);

/* ---- Errors: the same in all languages (docs/libingot.md#errors) ------------------------------------------------- */

typedef enum ingot_error {
  INGOT_OK = 0,
  INGOT_NOT_FOUND = 1,       /* the state has no such key */
  INGOT_NO_DAEMON = 2,       /* no instance gives a view there */
  INGOT_NOT_ALLOWED = 3,     /* this user may not read the view */
  INGOT_OTHER_IDENTITY = 4,  /* the instance has begun anew with another state; close the view, and open another one */
  INGOT_OTHER_LAYOUT = 5,    /* what answers there has no view that this version of the library reads */
  INGOT_TOO_OLD = 6,         /* the view no longer has all changes since that revision; read the keys anew */
  INGOT_TOO_STALE = 7,       /* the state may be older than age_max_ms, or its age is not known */
  INGOT_TOO_LARGE = 8,       /* the answer has more than a bound allows, or the instance's keys more than a view's */
  INGOT_CLOSED = 9,          /* the instance was stopped, or the view is closed (a null pointer) */
  INGOT_TIMED_OUT = 10,      /* it did not come within the time allowed */
  INGOT_DAMAGED = 11,        /* the view's memory holds what no instance writes */
  INGOT_EXHAUSTED = 12,      /* there was no memory, file descriptor or connection left */
  INGOT_INVALID = 13         /* an argument is wrong */
} ingot_error;

/* A sentence for people, that ends with a zero byte. For numbers that are no ingot_error, too. */
const char* ingot_error_text(ingot_error error);
/* The error's name in other languages and in logs: "no_daemon". */
const char* ingot_error_name(ingot_error error);

/* ---- Opening a view ---------------------------------------------------------------------------------------------- */

typedef struct ingot_view ingot_view;

/* Begin with INGOT_OPTIONS_INIT. */
typedef struct ingot_options {
  size_t size;               /* sizeof(ingot_options) */
  int64_t open_timeout_ms;   /* how long ingot_open waits for an instance that is there to show its view */
  int64_t timeout_ms;        /* how long a read waits for what it must see (ingot_require, age_max_ms) */
  int64_t age_max_ms;        /* reads refuse a state that may be older (INGOT_TOO_STALE); -1: any age will do */
  size_t answer_size_max;    /* no further key is read once an answer takes so many bytes (ingot_range) */
} ingot_options;

#define INGOT_OPTIONS_INIT {sizeof(ingot_options), 5000, 1000, -1, 67108864}

/* Enough for each message of ingot_open. */
#define INGOT_MESSAGE_SIZE 512

/* Opens a view of an instance, and waits until there is a state to read. `instance` ends with a zero byte:
 *
 *   NULL or ""      what ingotctl's variables say: $INGOT_ENDPOINT if it is "unix:PATH"; else $INGOT_SOCKET, a path;
 *                   else $INGOT_ENDPOINT, "HOST:PORT"; else "127.0.0.1:2379"
 *   "NAME"          the instance of that name (ingotd --name); its socket is looked for in $RUNTIME_DIRECTORY,
 *                   /run/ingot and $XDG_RUNTIME_DIR/ingot
 *   "HOST:PORT"     the instance on that port of this machine, by its default name: "ingot-PORT"
 *   "unix:/PATH"    the instance with that Unix socket; "/PATH" is the same
 *
 * `options` may be null: the defaults. If an error is returned, *view is null, and `message` (which may be null, with
 * size 0) gets a sentence with the path and the cause. Errors: INGOT_NO_DAEMON (at once), INGOT_NOT_ALLOWED,
 * INGOT_OTHER_LAYOUT, INGOT_TOO_LARGE, INGOT_TIMED_OUT, INGOT_EXHAUSTED, INGOT_INVALID.
 *
 * From then on nothing needs to be done for a view: it moves on by itself to another publisher or generation, at most
 * once a second, and its reads go on meanwhile. */
ingot_error ingot_open(const char* instance, const ingot_options* options, ingot_view** view, char* message,
                       size_t message_size);

/* A null pointer is allowed. Answers live on. */
void ingot_close(ingot_view* view);

/* What the view's newest call that failed has to say: a sentence with path, cause or advice; it ends with a zero byte.
 * Until the view's next call. "": none has failed. */
const char* ingot_message(const ingot_view* view);

/* Changes options.timeout_ms. 0: a read never waits. */
ingot_error ingot_set_timeout(ingot_view* view, int64_t timeout_ms);

/* ---- Reads ------------------------------------------------------------------------------------------------------- */

/* A key as etcd has it. */
typedef struct ingot_entry {
  const char* key;
  size_t key_size;
  const char* value;
  size_t value_size;
  int64_t mod_revision;
  int64_t create_revision;
  int64_t version;
  int64_t lease;  /* 0: none */
  int deleted;    /* in answers of ingot_changes only: then there are only key and mod_revision */
} ingot_entry;

/* What a read of several keys has found: a copy, at one revision. One answer serves any number of reads, each of which
 * takes away what the one before has found. */
typedef struct ingot_answer ingot_answer;

/* Null: there is no memory. */
ingot_answer* ingot_answer_new(void);
/* A null pointer is allowed. */
void ingot_answer_free(ingot_answer* answer);
/* Entries; of ingot_get_several: keys that were asked for. */
size_t ingot_answer_count(const ingot_answer* answer);
/* The entry at `index`; its pointers hold until the answer is used again or freed. INGOT_NOT_FOUND: of
 * ingot_get_several, the key at that index is not there. INGOT_INVALID: there is no such index. */
ingot_error ingot_answer_at(const ingot_answer* answer, size_t index, ingot_entry* entry);
/* The state's revision; 0: the answer has nothing. */
int64_t ingot_answer_revision(const ingot_answer* answer);
/* 1: there are more keys in the range than its limit; 0: these are all. */
int ingot_answer_more(const ingot_answer* answer);

/* Any read may also return INGOT_OTHER_IDENTITY, INGOT_OTHER_LAYOUT, INGOT_DAMAGED, INGOT_CLOSED, INGOT_EXHAUSTED; with
 * ingot_require() or age_max_ms also INGOT_NO_DAEMON, INGOT_TIMED_OUT, INGOT_TOO_STALE. After an error an answer is
 * empty. */

/* The key's value and fields; pointers hold until the view's next ingot_get or ingot_close. INGOT_NOT_FOUND: no such
 * key, or it was deleted. */
ingot_error ingot_get(ingot_view* view, const char* key, size_t key_size, ingot_entry* entry);

typedef struct ingot_bytes {
  const char* data;
  size_t size;
} ingot_bytes;

/* Several keys in one state; the answer has an index for each of them, in their order. INGOT_TOO_LARGE: they take more
 * than answer_size_max. */
ingot_error ingot_get_several(ingot_view* view, const ingot_bytes* keys, size_t keys_count, ingot_answer* answer);

/* Keys from `begin` on, below `end` (size 0: without an end), in their order. `limit` 0: all of them, or
 * INGOT_TOO_LARGE if they take more than answer_size_max. Otherwise at most so many, or as many as fit, at least one:
 * then ingot_answer_more() is 1, and the next ones begin at the last key with a zero byte behind it. */
ingot_error ingot_range(ingot_view* view, const char* begin, size_t begin_size, const char* end, size_t end_size,
                        size_t limit, ingot_answer* answer);
/* The same for all keys that begin with a prefix. */
ingot_error ingot_prefix(ingot_view* view, const char* prefix, size_t prefix_size, size_t limit, ingot_answer* answer);

/* How many keys there are; it takes about the same time for any number. */
ingot_error ingot_count(ingot_view* view, const char* begin, size_t begin_size, const char* end, size_t end_size,
                        uint64_t* count);
ingot_error ingot_count_prefix(ingot_view* view, const char* prefix, size_t prefix_size, uint64_t* count);

/* Each key that changed after a revision, once, in its newest state, also if it was deleted. INGOT_TOO_OLD: the view no
 * longer has all of them, or they are more than 64 MiB: read the keys, and go on from that answer's revision. */
ingot_error ingot_changes(ingot_view* view, int64_t after_revision, ingot_answer* answer);

/* ---- Revision, age, identity ------------------------------------------------------------------------------------- */

/* Of the state that the view's newest read has found. It never falls. */
int64_t ingot_revision(const ingot_view* view);

/* From now on no read finds an older state than this revision: give it that of a write's answer, and reads see the
 * write. A read waits for it, up to timeout_ms, then ends with INGOT_TIMED_OUT, or why it will not come. */
ingot_error ingot_require(ingot_view* view, int64_t revision);

/* How old the state may be that a read finds now. The first call waits for the instance to tell it, up to timeout_ms.
 * Errors: INGOT_TIMED_OUT, INGOT_NO_DAEMON, INGOT_CLOSED, as reads. */
ingot_error ingot_age(ingot_view* view, int64_t* age_ms);

/* Of the instance's state, as etcd's cluster id; another one after all of its processes have ended. */
uint64_t ingot_identity(const ingot_view* view);

/* ---- Waiting for changes ----------------------------------------------------------------------------------------- */

/* Waits until a key with that prefix may have changed after a revision: read, and wait again after the revision of
 * what was read. It may also end without such a change, or, while one publisher takes the place of another, just before
 * the view shows it; the next wait then ends at once. `timeout_ms` 0: only looks; -1: without an end. The prefix has at
 * most 4096 bytes.
 *
 * INGOT_TIMED_OUT: no change yet. INGOT_NO_DAEMON: the same, and nobody is there who would tell; the wait tries again
 * once a second until its time is over. At once: INGOT_CLOSED, INGOT_NOT_ALLOWED, INGOT_OTHER_IDENTITY,
 * INGOT_OTHER_LAYOUT, INGOT_EXHAUSTED, INGOT_INVALID. A signal does not end a wait. */
ingot_error ingot_wait(ingot_view* view, const char* prefix, size_t prefix_size, int64_t after_revision,
                       int64_t timeout_ms);

/* For event loops: a descriptor, the same for the view's life, that can be read (POLLIN) when something has happened to
 * the wait that was begun by ingot_wait with timeout_ms 0. Then call that again, with the same arguments: until it
 * returns INGOT_TIMED_OUT there is nothing to wait for. -1: there is no descriptor left, or the view is closed. The
 * descriptor is the view's: watch it, and never read or close it. */
int ingot_wait_fd(ingot_view* view);

#ifdef __cplusplus
}
#endif

#endif
