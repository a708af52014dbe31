-- libingot for LuaJIT, and so for nginx: reads the keys of an Ingot instance on this machine in place.
--
--   local ingot = require "ingot"
--   local view = assert(ingot.open())
--   print(view:get("flag"))
--   for key, value in view:each("config/") do print(key, value) end
--
-- A call that fails returns nil, a sentence, and the error's name, such as "no_daemon" (docs/libingot.md#errors). A key
-- that is not there is nil alone. Strings may have any bytes; times are in ms, sizes in bytes; revisions are numbers.
-- A view that was opened before a process forks, as in nginx's init_by_lua, is good in all of them.
local ffi = require "ffi"

-- As client/ingot/ingot.h; once, also if this file is loaded again.
if not pcall(ffi.typeof, "ingot_options") then
  ffi.cdef [[
const char* ingot_version(void);
typedef enum ingot_error {
  INGOT_OK = 0,
  INGOT_NOT_FOUND = 1,
  INGOT_NO_DAEMON = 2,
  INGOT_NOT_ALLOWED = 3,
  INGOT_OTHER_IDENTITY = 4,
  INGOT_OTHER_LAYOUT = 5,
  INGOT_TOO_OLD = 6,
  INGOT_TOO_STALE = 7,
  INGOT_TOO_LARGE = 8,
  INGOT_CLOSED = 9,
  INGOT_TIMED_OUT = 10,
  INGOT_DAMAGED = 11,
  INGOT_EXHAUSTED = 12,
  INGOT_INVALID = 13
} ingot_error;
const char* ingot_error_text(ingot_error error);
const char* ingot_error_name(ingot_error error);
typedef struct ingot_view ingot_view;
typedef struct ingot_options {
  size_t size;
  int64_t open_timeout_ms;
  int64_t timeout_ms;
  int64_t age_max_ms;
  size_t answer_size_max;
} ingot_options;
ingot_error ingot_open(const char* instance, const ingot_options* options, ingot_view** view, char* message,
                       size_t message_size);
void ingot_close(ingot_view* view);
const char* ingot_message(const ingot_view* view);
ingot_error ingot_set_timeout(ingot_view* view, int64_t timeout_ms);
typedef struct ingot_entry {
  const char* key;
  size_t key_size;
  const char* value;
  size_t value_size;
  int64_t mod_revision;
  int64_t create_revision;
  int64_t version;
  int64_t lease;
  int deleted;
} ingot_entry;
typedef struct ingot_answer ingot_answer;
ingot_answer* ingot_answer_new(void);
void ingot_answer_free(ingot_answer* answer);
size_t ingot_answer_count(const ingot_answer* answer);
ingot_error ingot_answer_at(const ingot_answer* answer, size_t index, ingot_entry* entry);
int64_t ingot_answer_revision(const ingot_answer* answer);
int ingot_answer_more(const ingot_answer* answer);
ingot_error ingot_get(ingot_view* view, const char* key, size_t key_size, ingot_entry* entry);
typedef struct ingot_bytes {
  const char* data;
  size_t size;
} ingot_bytes;
ingot_error ingot_get_several(ingot_view* view, const ingot_bytes* keys, size_t keys_count, ingot_answer* answer);
ingot_error ingot_range(ingot_view* view, const char* begin, size_t begin_size, const char* end, size_t end_size,
                        size_t limit, ingot_answer* answer);
ingot_error ingot_prefix(ingot_view* view, const char* prefix, size_t prefix_size, size_t limit, ingot_answer* answer);
ingot_error ingot_count(ingot_view* view, const char* begin, size_t begin_size, const char* end, size_t end_size,
                        uint64_t* count);
ingot_error ingot_count_prefix(ingot_view* view, const char* prefix, size_t prefix_size, uint64_t* count);
ingot_error ingot_changes(ingot_view* view, int64_t after_revision, ingot_answer* answer);
int64_t ingot_revision(const ingot_view* view);
ingot_error ingot_require(ingot_view* view, int64_t revision);
ingot_error ingot_age(ingot_view* view, int64_t* age_ms);
uint64_t ingot_identity(const ingot_view* view);
ingot_error ingot_wait(ingot_view* view, const char* prefix, size_t prefix_size, int64_t after_revision,
                       int64_t timeout_ms);
int ingot_wait_fd(ingot_view* view);
]]
end

local lib = ffi.load("libingot.so.0")
local MESSAGE_SIZE = 512
local OK, NOT_FOUND, TIMED_OUT = 0, 1, 10

local ingot = { version = ffi.string(lib.ingot_version()) }
local View = {}
View.__index = View

local function failed(view, code)
  return nil, ffi.string(lib.ingot_message(view.handle)), ffi.string(lib.ingot_error_name(code))
end

local function entry_of(entry)
  return {
    key = ffi.string(entry.key, entry.key_size),
    value = ffi.string(entry.value, entry.value_size),
    mod_revision = tonumber(entry.mod_revision),
    create_revision = tonumber(entry.create_revision),
    version = tonumber(entry.version),
    lease = tonumber(entry.lease),
    deleted = entry.deleted ~= 0,
  }
end

-- What the view's answer has: a list of entries, in which a key that is not there (get_several) is false; its revision;
-- whether there are more.
local function entries_of(view)
  local answer, entry, entries = view.answer, view.found, {}
  for i = 1, tonumber(lib.ingot_answer_count(answer)) do
    entries[i] = lib.ingot_answer_at(answer, i - 1, entry) == OK and entry_of(entry)
  end
  return entries, tonumber(lib.ingot_answer_revision(answer)), lib.ingot_answer_more(answer) ~= 0
end

local function answered(view, code)
  if code ~= OK then return failed(view, code) end
  return entries_of(view)
end

-- `instance`: as ingot_open has it; nil: what the environment says. `options`: open_timeout_ms, timeout_ms, age_max_ms,
-- answer_size_max.
function ingot.open(instance, options)
  options = options or {}
  local given = ffi.new("ingot_options", ffi.sizeof("ingot_options"), options.open_timeout_ms or 5000,
                        options.timeout_ms or 1000, options.age_max_ms or -1, options.answer_size_max or 67108864)
  local handle, message = ffi.new("ingot_view*[1]"), ffi.new("char[?]", MESSAGE_SIZE)
  local code = lib.ingot_open(instance, given, handle, message, MESSAGE_SIZE)
  if code ~= OK then return nil, ffi.string(message), ffi.string(lib.ingot_error_name(code)) end
  local view = { handle = ffi.gc(handle[0], lib.ingot_close), found = ffi.new("ingot_entry") }
  view.answer = ffi.gc(lib.ingot_answer_new(), lib.ingot_answer_free)
  return setmetatable(view, View)
end

function View:close()
  local handle = self.handle
  self.handle = nil
  if handle ~= nil then lib.ingot_close(ffi.gc(handle, nil)) end
end

-- A key's value.
function View:get(key)
  local entry = self.found
  local code = lib.ingot_get(self.handle, key, #key, entry)
  if code == OK then return ffi.string(entry.value, entry.value_size) end
  if code == NOT_FOUND then return nil end
  return failed(self, code)
end

-- A key as a table: key, value, mod_revision, create_revision, version, lease, deleted.
function View:entry(key)
  local code = lib.ingot_get(self.handle, key, #key, self.found)
  if code == OK then return entry_of(self.found) end
  if code == NOT_FOUND then return nil end
  return failed(self, code)
end

-- A list with an entry for each key of a list, or false if it is not there; and the revision.
function View:get_several(keys)
  local asked = ffi.new("ingot_bytes[?]", #keys)
  for i, key in ipairs(keys) do
    asked[i - 1].data, asked[i - 1].size = key, #key
  end
  return answered(self, lib.ingot_get_several(self.handle, asked, #keys, self.answer))
end

-- Lists of entries, their revision, and whether there are more than `limit`. `last` nil or "": without an end.
function View:range(first, last, limit)
  last = last or ""
  return answered(self, lib.ingot_range(self.handle, first, #first, last, #last, limit or 0, self.answer))
end

function View:prefix(prefix, limit)
  return answered(self, lib.ingot_prefix(self.handle, prefix, #prefix, limit or 0, self.answer))
end

-- Each key that changed after a revision, once, in its newest state.
function View:changes(after_revision)
  return answered(self, lib.ingot_changes(self.handle, after_revision, self.answer))
end

-- for key, value, entry in view:each(prefix): keys of one state. An error is raised, since a loop could not tell it.
function View:each(prefix)
  local entries, message = self:prefix(prefix)
  if not entries then error(message, 2) end
  local i = 0
  return function()
    i = i + 1
    local entry = entries[i]
    if entry then return entry.key, entry.value, entry end
  end
end

function View:count(first, last)
  local count = ffi.new("uint64_t[1]")
  last = last or ""
  local code = lib.ingot_count(self.handle, first, #first, last, #last, count)
  if code ~= OK then return failed(self, code) end
  return tonumber(count[0])
end

function View:count_prefix(prefix)
  local count = ffi.new("uint64_t[1]")
  local code = lib.ingot_count_prefix(self.handle, prefix, #prefix, count)
  if code ~= OK then return failed(self, code) end
  return tonumber(count[0])
end

function View:revision() return tonumber(lib.ingot_revision(self.handle)) end

-- In decimal: a Lua number is too small for it.
function View:identity() return (tostring(lib.ingot_identity(self.handle)):gsub("ULL$", "")) end

-- True, or an error, of these two.
function View:require(revision)
  local code = lib.ingot_require(self.handle, revision)
  if code ~= OK then return failed(self, code) end
  return true
end

function View:set_timeout(timeout_ms)
  local code = lib.ingot_set_timeout(self.handle, timeout_ms)
  if code ~= OK then return failed(self, code) end
  return true
end

function View:age()
  local age_ms = ffi.new("int64_t[1]")
  local code = lib.ingot_age(self.handle, age_ms)
  if code ~= OK then return failed(self, code) end
  return tonumber(age_ms[0])
end

-- True: a key with the prefix may have changed. False: the time is over. `timeout_ms` nil: without an end, which stops
-- a whole nginx worker; 0 and wait_fd() do not.
function View:wait(prefix, after_revision, timeout_ms)
  local code = lib.ingot_wait(self.handle, prefix, #prefix, after_revision, timeout_ms or -1)
  if code == OK then return true end
  if code == TIMED_OUT then return false end
  return failed(self, code)
end

-- Nil: there is no descriptor left, or the view is closed.
function View:wait_fd()
  local fd = lib.ingot_wait_fd(self.handle)
  if fd >= 0 then return fd end
end

return ingot
