/* What Python's module ingot is made of: client/ingot/ingot.h for CPython's stable ABI. ingot/_ingot.pyi has the types.
 *
 * A read is tried with the interpreter's lock held, which costs less than to release it; only if it would have to wait,
 * it is made again without the lock. A view is for one thread at a time, and says so if it is not. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#include <ingot.h>
#include <string.h>

#define ERRORS 14

/* A wait looks so often whether a signal's handler is to be called. */
static const long long kSignalsMs = 100;

typedef struct {
  PyObject_HEAD
  ingot_view* view; /* null: closed */
  ingot_answer* answer;
  int64_t timeout_ms; /* of reads that wait; the library's own is 0 */
  int busy;           /* in a call of the library without the interpreter's lock, or between it and its result */
} View;

static PyObject* error_classes[ERRORS]; /* by code; null: no class of its own */
static PyObject* error_base;
static PyTypeObject* entry_type;

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static const struct {
  ingot_error code;
  const char* name;
} kClasses[] = {
    {INGOT_NO_DAEMON, "ingot.NoDaemon"},
    {INGOT_NOT_ALLOWED, "ingot.NotAllowed"},
    {INGOT_OTHER_IDENTITY, "ingot.OtherIdentity"},
    {INGOT_OTHER_LAYOUT, "ingot.OtherLayout"},
    {INGOT_TOO_OLD, "ingot.TooOld"},
    {INGOT_TOO_STALE, "ingot.TooStale"},
    {INGOT_TOO_LARGE, "ingot.TooLarge"},
    {INGOT_CLOSED, "ingot.Closed"},
    {INGOT_TIMED_OUT, "ingot.TimedOut"},
    {INGOT_DAMAGED, "ingot.Damaged"},
    {INGOT_EXHAUSTED, "ingot.Exhausted"},
    {INGOT_INVALID, "ingot.Invalid"},
};

static PyObject* fail(ingot_error code, const char* message) {
  PyObject* const class = code > 0 && code < ERRORS ? error_classes[code] : NULL;
  PyObject* const text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  if (text != NULL) PyErr_SetObject(class == NULL ? error_base : class, text);
  Py_XDECREF(text);
  return NULL;
}

static PyObject* fail_of(const View* self, ingot_error code) { return fail(code, ingot_message(self->view)); }

static int is_free(const View* self) {
  if (!self->busy) return 1;
  PyErr_SetString(PyExc_RuntimeError, "this view is in use, by another thread; open a view for each thread");
  return 0;
}

static int may_come(ingot_error error) {
  return error == INGOT_TIMED_OUT || error == INGOT_TOO_STALE || error == INGOT_NO_DAEMON;
}

/* `call`, an expression: at once, then if need be with the view's timeout and without the interpreter's lock. */
#define READ(self, error, call)                                              \
  do {                                                                       \
    error = (call);                                                          \
    if (may_come(error) && (self)->timeout_ms > 0) {                         \
      (self)->busy = 1;                                                      \
      Py_BEGIN_ALLOW_THREADS                                                 \
      (void)ingot_set_timeout((self)->view, (self)->timeout_ms);             \
      error = (call);                                                        \
      (void)ingot_set_timeout((self)->view, 0);                              \
      Py_END_ALLOW_THREADS                                                   \
      (self)->busy = 0;                                                      \
    }                                                                        \
  } while (0)

/* ---- Arguments and results --------------------------------------------------------------------------------------- */

/* Bytes, or a str in UTF-8. They hold as long as the object. */
static int take_bytes(PyObject* object, ingot_bytes* bytes) {
  Py_ssize_t size = 0;
  if (PyUnicode_Check(object)) {
    bytes->data = PyUnicode_AsUTF8AndSize(object, &size);
  } else {
    char* data = NULL;
    if (PyBytes_AsStringAndSize(object, &data, &size) != 0) return 0;
    bytes->data = data;
  }
  bytes->size = (size_t)size;
  return bytes->data != NULL;
}

static PyObject* entry_of(const ingot_entry* entry) {
  PyObject* const shown = PyStructSequence_New(entry_type);
  if (shown == NULL) return NULL;
  PyStructSequence_SetItem(shown, 0, PyBytes_FromStringAndSize(entry->key, (Py_ssize_t)entry->key_size));
  PyStructSequence_SetItem(shown, 1, PyBytes_FromStringAndSize(entry->value, (Py_ssize_t)entry->value_size));
  PyStructSequence_SetItem(shown, 2, PyLong_FromLongLong(entry->mod_revision));
  PyStructSequence_SetItem(shown, 3, PyLong_FromLongLong(entry->create_revision));
  PyStructSequence_SetItem(shown, 4, PyLong_FromLongLong(entry->version));
  PyStructSequence_SetItem(shown, 5, PyLong_FromLongLong(entry->lease));
  PyStructSequence_SetItem(shown, 6, PyBool_FromLong(entry->deleted));
  if (!PyErr_Occurred()) return shown;
  Py_DECREF(shown);
  return NULL;
}

/* What an object's allocation runs, such as finalizers, must not read into what is being copied. */
static PyObject* entry_held(View* self, const ingot_entry* entry) {
  self->busy = 1;
  PyObject* const shown = entry_of(entry);
  self->busy = 0;
  return shown;
}

/* None stands for a key that was asked for and is not there. */
static PyObject* entries_of(const ingot_answer* answer) {
  const size_t count = ingot_answer_count(answer);
  PyObject* const entries = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; entries != NULL && i < count; ++i) {
    ingot_entry entry;
    const int there = ingot_answer_at(answer, i, &entry) == INGOT_OK;
    PyObject* const shown = there ? entry_of(&entry) : Py_NewRef(Py_None);
    if (shown == NULL || PyList_SetItem(entries, (Py_ssize_t)i, shown) != 0) {
      Py_DECREF(entries);
      return NULL;
    }
  }
  return entries;
}

/* (entries, revision, more) */
static PyObject* answer_of(View* self, ingot_error error) {
  if (error != INGOT_OK) return fail_of(self, error);
  const long long revision = ingot_answer_revision(self->answer);
  PyObject* const more = ingot_answer_more(self->answer) ? Py_True : Py_False;
  self->busy = 1;
  PyObject* const entries = entries_of(self->answer);
  self->busy = 0;
  return entries == NULL ? NULL : Py_BuildValue("NLO", entries, revision, more);
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

static PyObject* view_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"instance", "open_timeout_ms", "timeout_ms", "age_max_ms", "answer_size_max", NULL};
  const char* instance = "";
  ingot_options options = INGOT_OPTIONS_INIT;
  long long open_timeout_ms = options.open_timeout_ms, timeout_ms = options.timeout_ms, age_max_ms = -1;
  Py_ssize_t answer_size_max = (Py_ssize_t)options.answer_size_max;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|s$LLLn", names, &instance, &open_timeout_ms, &timeout_ms,
                                   &age_max_ms, &answer_size_max)) {
    return NULL;
  }
  options.open_timeout_ms = open_timeout_ms;
  options.timeout_ms = timeout_ms;
  options.age_max_ms = age_max_ms;
  options.answer_size_max = answer_size_max < 0 ? 0 : (size_t)answer_size_max;
  char message[INGOT_MESSAGE_SIZE];
  ingot_view* view = NULL;
  ingot_error error;
  Py_BEGIN_ALLOW_THREADS
  error = ingot_open(instance, &options, &view, message, sizeof message);
  Py_END_ALLOW_THREADS
  if (error != INGOT_OK) return fail(error, message);
  View* const self = (View*)PyType_GenericAlloc(type, 0);
  ingot_answer* const answer = self == NULL ? NULL : ingot_answer_new();
  if (answer == NULL) {
    ingot_close(view);
    Py_XDECREF(self);
    return PyErr_NoMemory();
  }
  (void)ingot_set_timeout(view, 0);
  self->view = view;
  self->answer = answer;
  self->timeout_ms = timeout_ms;
  return (PyObject*)self;
}

static void view_dealloc(PyObject* object) {
  View* const self = (View*)object;
  PyTypeObject* const type = Py_TYPE(object);
  ingot_close(self->view);
  ingot_answer_free(self->answer);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static PyObject* view_close(View* self, PyObject* unused) {
  (void)unused;
  if (!is_free(self)) return NULL;
  ingot_close(self->view);
  self->view = NULL;
  Py_RETURN_NONE;
}

/* ---- Reads ------------------------------------------------------------------------------------------------------- */

static int get_into(View* self, PyObject* key, ingot_entry* entry) {
  ingot_bytes bytes;
  ingot_error error;
  if (!is_free(self) || !take_bytes(key, &bytes)) return -1;
  READ(self, error, ingot_get(self->view, bytes.data, bytes.size, entry));
  if (error == INGOT_OK) return 1;
  if (error == INGOT_NOT_FOUND) return 0;
  fail_of(self, error);
  return -1;
}

static PyObject* view_get(View* self, PyObject* key) {
  ingot_entry entry;
  const int found = get_into(self, key, &entry);
  if (found < 0) return NULL;
  if (found == 0) Py_RETURN_NONE;
  return PyBytes_FromStringAndSize(entry.value, (Py_ssize_t)entry.value_size);
}

static PyObject* view_entry(View* self, PyObject* key) {
  ingot_entry entry;
  const int found = get_into(self, key, &entry);
  if (found < 0) return NULL;
  if (found == 0) Py_RETURN_NONE;
  return entry_held(self, &entry);
}

static PyObject* view_get_several(View* self, PyObject* keys) {
  PyObject* const held = PySequence_Tuple(keys);
  if (held == NULL) return NULL;
  const Py_ssize_t count = PyTuple_Size(held);
  ingot_bytes* const asked = PyMem_Calloc((size_t)count + 1, sizeof *asked);
  PyObject* result = asked == NULL ? PyErr_NoMemory() : NULL;
  int valid = asked != NULL && is_free(self);
  for (Py_ssize_t i = 0; valid && i < count; ++i) valid = take_bytes(PyTuple_GetItem(held, i), &asked[i]);
  if (valid) {
    ingot_error error;
    READ(self, error, ingot_get_several(self->view, asked, (size_t)count, self->answer));
    result = answer_of(self, error);
  }
  PyMem_Free(asked);
  Py_DECREF(held);
  return result;
}

static PyObject* view_range(View* self, PyObject* arguments) {
  PyObject *begin, *end;
  Py_ssize_t limit;
  ingot_bytes from, to;
  ingot_error error;
  if (!PyArg_ParseTuple(arguments, "OOn", &begin, &end, &limit) || !is_free(self)) return NULL;
  if (!take_bytes(begin, &from) || !take_bytes(end, &to)) return NULL;
  if (limit < 0) return fail(INGOT_INVALID, "a limit is 0 or more");
  READ(self, error, ingot_range(self->view, from.data, from.size, to.data, to.size, (size_t)limit, self->answer));
  return answer_of(self, error);
}

static PyObject* view_prefix(View* self, PyObject* arguments) {
  PyObject* prefix;
  Py_ssize_t limit;
  ingot_bytes bytes;
  ingot_error error;
  if (!PyArg_ParseTuple(arguments, "On", &prefix, &limit) || !is_free(self)) return NULL;
  if (!take_bytes(prefix, &bytes)) return NULL;
  if (limit < 0) return fail(INGOT_INVALID, "a limit is 0 or more");
  READ(self, error, ingot_prefix(self->view, bytes.data, bytes.size, (size_t)limit, self->answer));
  return answer_of(self, error);
}

static PyObject* view_changes(View* self, PyObject* arguments) {
  long long after;
  ingot_error error;
  if (!PyArg_ParseTuple(arguments, "L", &after) || !is_free(self)) return NULL;
  READ(self, error, ingot_changes(self->view, after, self->answer));
  return answer_of(self, error);
}

static PyObject* view_count(View* self, PyObject* arguments) {
  PyObject *begin, *end;
  ingot_bytes from, to;
  uint64_t count = 0;
  ingot_error error;
  if (!PyArg_ParseTuple(arguments, "OO", &begin, &end) || !is_free(self)) return NULL;
  if (!take_bytes(begin, &from) || !take_bytes(end, &to)) return NULL;
  READ(self, error, ingot_count(self->view, from.data, from.size, to.data, to.size, &count));
  return error == INGOT_OK ? PyLong_FromUnsignedLongLong(count) : fail_of(self, error);
}

static PyObject* view_count_prefix(View* self, PyObject* prefix) {
  ingot_bytes bytes;
  uint64_t count = 0;
  ingot_error error;
  if (!is_free(self) || !take_bytes(prefix, &bytes)) return NULL;
  READ(self, error, ingot_count_prefix(self->view, bytes.data, bytes.size, &count));
  return error == INGOT_OK ? PyLong_FromUnsignedLongLong(count) : fail_of(self, error);
}

/* ---- Revision, age, identity, waiting ---------------------------------------------------------------------------- */

static PyObject* view_require(View* self, PyObject* arguments) {
  long long revision;
  if (!PyArg_ParseTuple(arguments, "L", &revision) || !is_free(self)) return NULL;
  const ingot_error error = ingot_require(self->view, revision);
  if (error != INGOT_OK) return fail_of(self, error);
  Py_RETURN_NONE;
}

static PyObject* view_age_ms(View* self, PyObject* unused) {
  int64_t age_ms = 0;
  ingot_error error;
  (void)unused;
  if (!is_free(self)) return NULL;
  READ(self, error, ingot_age(self->view, &age_ms));
  return error == INGOT_OK ? PyLong_FromLongLong(age_ms) : fail_of(self, error);
}

static PyObject* view_wait(View* self, PyObject* arguments) {
  PyObject* prefix;
  long long after, left_ms = -1;
  ingot_bytes bytes;
  ingot_error error;
  if (!PyArg_ParseTuple(arguments, "OL|L", &prefix, &after, &left_ms) || !is_free(self)) return NULL;
  if (!take_bytes(prefix, &bytes)) return NULL;
  if (left_ms < -1) return fail(INGOT_INVALID, "a timeout is -1 or more");
  for (;;) {
    const long long slice_ms = left_ms < 0 || left_ms > kSignalsMs ? kSignalsMs : left_ms;
    self->busy = 1;
    Py_BEGIN_ALLOW_THREADS
    error = ingot_wait(self->view, bytes.data, bytes.size, after, slice_ms);
    Py_END_ALLOW_THREADS
    self->busy = 0;
    if (left_ms > 0) left_ms -= slice_ms;
    if (left_ms == 0 || !may_come(error)) break;
    if (PyErr_CheckSignals() != 0) return NULL;
  }
  if (error == INGOT_OK) Py_RETURN_TRUE;
  if (error == INGOT_TIMED_OUT) Py_RETURN_FALSE;
  return fail_of(self, error);
}

static PyObject* view_fileno(View* self, PyObject* unused) {
  (void)unused;
  if (!is_free(self)) return NULL;
  const int fd = ingot_wait_fd(self->view);
  const ingot_error error = self->view == NULL ? INGOT_CLOSED : INGOT_EXHAUSTED;
  return fd >= 0 ? PyLong_FromLong(fd) : fail(error, ingot_error_text(error));
}

static PyObject* view_revision(View* self, void* unused) {
  (void)unused;
  return is_free(self) ? PyLong_FromLongLong(ingot_revision(self->view)) : NULL;
}

static PyObject* view_identity(View* self, void* unused) {
  (void)unused;
  return is_free(self) ? PyLong_FromUnsignedLongLong(ingot_identity(self->view)) : NULL;
}

static PyObject* view_timeout_ms(View* self, void* unused) {
  (void)unused;
  return PyLong_FromLongLong(self->timeout_ms);
}

static int view_set_timeout_ms(View* self, PyObject* value, void* unused) {
  (void)unused;
  if (value == NULL) return PyErr_SetString(PyExc_AttributeError, "timeout_ms cannot be deleted"), -1;
  const long long timeout_ms = PyLong_AsLongLong(value);
  if (timeout_ms == -1 && PyErr_Occurred()) return -1;
  if (timeout_ms < 0) return fail(INGOT_INVALID, "a read's timeout is 0 or more"), -1;
  self->timeout_ms = timeout_ms;
  return 0;
}

/* ---- The module -------------------------------------------------------------------------------------------------- */

#define METHOD(name, flags) {#name, (PyCFunction)(void (*)(void))view_##name, flags, NULL}
static PyMethodDef methods[] = {
    METHOD(close, METH_NOARGS),   METHOD(get, METH_O),           METHOD(entry, METH_O),
    METHOD(age_ms, METH_NOARGS),  METHOD(count, METH_VARARGS),   METHOD(count_prefix, METH_O),
    METHOD(wait, METH_VARARGS),   METHOD(require, METH_VARARGS), METHOD(fileno, METH_NOARGS),
    {"_get_several", (PyCFunction)(void (*)(void))view_get_several, METH_O, NULL},
    {"_range", (PyCFunction)(void (*)(void))view_range, METH_VARARGS, NULL},
    {"_prefix", (PyCFunction)(void (*)(void))view_prefix, METH_VARARGS, NULL},
    {"_changes", (PyCFunction)(void (*)(void))view_changes, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef properties[] = {
    {"revision", (getter)(void (*)(void))view_revision, NULL, NULL, NULL},
    {"identity", (getter)(void (*)(void))view_identity, NULL, NULL, NULL},
    {"timeout_ms", (getter)(void (*)(void))view_timeout_ms, (setter)(void (*)(void))view_set_timeout_ms, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, view_new},
    {Py_tp_dealloc, view_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};
static PyType_Spec view_spec = {"ingot._ingot.View", sizeof(View), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

static PyStructSequence_Field entry_fields[] = {
    {"key", NULL},     {"value", NULL}, {"mod_revision", NULL}, {"create_revision", NULL},
    {"version", NULL}, {"lease", NULL}, {"deleted", NULL},      {NULL, NULL},
};
static PyStructSequence_Desc entry_desc = {"ingot.Entry", "A key as etcd has it.", entry_fields, 7};

static int add_errors(PyObject* module) {
  error_base = PyErr_NewException("ingot.Error", NULL, NULL);
  if (error_base == NULL || PyModule_AddObjectRef(module, "Error", error_base) != 0) return 0;
  for (size_t i = 0; i < sizeof kClasses / sizeof *kClasses; ++i) {
    const ingot_error code = kClasses[i].code;
    PyObject* const fields = Py_BuildValue("{s:i,s:s}", "code", (int)code, "name", ingot_error_name(code));
    error_classes[code] = fields == NULL ? NULL : PyErr_NewException(kClasses[i].name, error_base, fields);
    Py_XDECREF(fields);
    if (error_classes[code] == NULL) return 0;
    if (PyModule_AddObjectRef(module, kClasses[i].name + sizeof "ingot." - 1, error_classes[code]) != 0) return 0;
  }
  return 1;
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_ingot", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__ingot(void) {
  PyObject* const module = PyModule_Create(&definition);
  PyObject* const view = module == NULL ? NULL : PyType_FromSpec(&view_spec);
  entry_type = view == NULL ? NULL : PyStructSequence_NewType(&entry_desc);
  const int complete = entry_type != NULL && PyModule_AddObjectRef(module, "View", view) == 0 &&
                       PyModule_AddObjectRef(module, "Entry", (PyObject*)entry_type) == 0 &&
                       PyModule_AddStringConstant(module, "version", ingot_version()) == 0 && add_errors(module);
  Py_XDECREF(view);
  if (complete) return module;
  Py_XDECREF(module);
  return NULL;
}
