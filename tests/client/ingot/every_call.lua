-- Calls everything in ingot.lua on the instance that the environment names, which has "flag" and "config/a".
local ffi = require "ffi"
local ingot = require "ingot"

ffi.cdef [[
int fork(void);
int waitpid(int pid, int* status, int options);
void _exit(int code);
]]

local function fails_with(name, ...)
  local value, message, error_name = ...
  assert(value == nil and #message > 0, message)
  assert(error_name == name, tostring(error_name) .. ": " .. message)
end

local view = assert(ingot.open(nil, { open_timeout_ms = 100000, timeout_ms = 100000 }))
assert(ingot.version == os.getenv("VERSION"))
assert(view:get("flag") == "on")
assert(select("#", view:get("none")) == 1 and view:get("none") == nil)
assert(view:get("") == nil and view:entry("none") == nil)
local entry = view:entry("flag")
assert(entry.key == "flag" and entry.value == "on" and entry.version >= 1 and not entry.deleted and entry.lease == 0)
assert(entry.create_revision <= entry.mod_revision and entry.mod_revision <= view:revision())
local several, revision = view:get_several({ "none", "flag" })
assert(#several == 2 and several[1] == false and several[2].value == "on" and revision == view:revision())
assert(#view:get_several({}) == 0)

local found = {}
for key, value, each in view:each("config/") do
  found[key] = value
  assert(each.mod_revision > 0)
end
assert(found["config/a"] == "1")
local first, _, more = view:range("", nil, 1)
assert(#first == 1 and more)
local all, _, more_of_all = view:prefix("flag")
assert(#all == 1 and not more_of_all)
assert(#view:range("flag", "flag\0") == 1 and #view:range("flag", "flag") == 0)
assert(view:count("") >= 2 and view:count("", "a") == 0 and view:count_prefix("config/") == 1)
assert(#view:changes(view:revision()) == 0)
fails_with("invalid", view:changes(-1))
assert(view:age() >= 0 and tonumber(view:identity()) > 0)
assert(view:wait("none/", view:revision(), 1) == false)
assert(view:wait_fd() >= 0)

-- A forked child goes on with the view, and takes nothing from its parent.
local child = ffi.C.fork()
if child == 0 then
  local held = pcall(function()
    assert(view:get("flag") == "on" and view:wait("none/", view:revision(), 1) == false)
    view:close()
  end)
  ffi.C._exit(held and 7 or 1)
end
local status = ffi.new("int[1]")
assert(ffi.C.waitpid(child, status, 0) == child and status[0] == 7 * 256)
assert(view:get("flag") == "on")

assert(view:require(view:revision()))
fails_with("invalid", view:set_timeout(-1))
assert(view:set_timeout(20))
assert(view:require(view:revision() + 1000))
fails_with("timed_out", view:get("flag"))
assert(not pcall(view.each, view, "config/"))

view:close()
view:close()
fails_with("closed", view:get("flag"))
fails_with("closed", view:prefix("flag"))
fails_with("closed", view:wait("", 0))
assert(view:wait_fd() == nil and view:revision() == 0)
fails_with("no_daemon", ingot.open("/nowhere.sock"))
fails_with("invalid", ingot.open("relative/path"))
fails_with("invalid", ingot.open(nil, { timeout_ms = -1 }))

for _ = 1, 50 do assert(ingot.open(nil, { open_timeout_ms = 100000 })):get("flag") end  -- the collector closes them
collectgarbage()
collectgarbage()
package.loaded.ingot = nil
assert(require("ingot").open(nil, { open_timeout_ms = 100000 }):get("flag") == "on")
print("every call did what it says")
