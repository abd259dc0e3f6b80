/* Writes the report as JSON. */
#define _GNU_SOURCE
#include "audiowatch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const event_names[EVENTS] = {"allocations", "frees", "locks", "waits", "futex_calls"};

struct page {
    int file;
    size_t used;
    char text[4096];
};

static void flush(struct page *page)
{
    for (size_t done = 0; done < page->used;) {
        ssize_t written = write(page->file, page->text + done, page->used - done);
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    page->used = 0;
}

static void __attribute__((format(printf, 2, 3))) put(struct page *page, const char *format, ...)
{
    if (page->used > sizeof page->text - 1024)
        flush(page);
    va_list list;
    va_start(list, format);
    int length = vsnprintf(page->text + page->used, sizeof page->text - page->used, format, list);
    va_end(list);
    if (length > 0)
        page->used += (size_t)length < sizeof page->text - page->used ? (size_t)length : sizeof page->text - page->used - 1;
}

static void put_counts(struct page *page, const uint64_t counts[EVENTS])
{
    for (int event = 0; event < EVENTS; event++)
        put(page, "%s\"%s\": %llu", event ? ", " : "", event_names[event], (unsigned long long)counts[event]);
}

/* Writes a name in quotes, without the characters that JSON would require to be escaped. */
static void put_name(struct page *page, const char *name)
{
    put(page, "\"");
    for (size_t i = 0; name[i] != 0 && i < 400; i++)
        put(page, "%c", name[i] < ' ' || name[i] == '"' || name[i] == '\\' ? '?' : name[i]);
    put(page, "\"");
}

static void put_place(struct page *page, const struct record *record, const struct place *place)
{
    Dl_info about = {0};
    const char *library = "?", *symbol = "?";
    if (dladdr(place->address, &about)) {
        if (about.dli_fname != NULL)
            library = strrchr(about.dli_fname, '/') ? strrchr(about.dli_fname, '/') + 1 : about.dli_fname;
        if (about.dli_sname != NULL)
            symbol = about.dli_sname;
    }
    put(page, "\n      {\"library\": ");
    put_name(page, library);
    put(page, ", \"symbol\": ");
    put_name(page, symbol);
    put(page, ", \"offset\": \"0x%llx\", ",
        (unsigned long long)((uintptr_t)place->address - (uintptr_t)(about.dli_fbase ? about.dli_fbase : 0)));
    put_counts(page, place->counts);
    put(page, ", \"contended\": %llu, \"first_s\": %.3f, \"last_s\": %.3f}", (unsigned long long)place->contended,
        (double)(place->first - record->named) * 1e-9, (double)(place->last - record->named) * 1e-9);
}

static void put_record(struct page *page, const struct record *record)
{
    put(page, "\n    {\"thread\": ");
    put_name(page, record->name);
    put(page, ", \"tid\": %d, \"watched_s\": %.3f,\n     ", record->tid,
        (double)(now() - record->named - settings.run_in) * 1e-9);
    put_counts(page, record->counts);
    put(page, ", \"contended\": %llu, \"forgotten\": %llu,\n     \"during_run_in\": {", (unsigned long long)record->contended,
        (unsigned long long)record->forgotten);
    put_counts(page, record->run_in);
    put(page, "},\n     \"places\": [");
    bool first = true;
    for (int i = 0; i < PLACES_MAX; i++)
        if (record->places[i].address != NULL) {
            put(page, "%s", first ? "" : ",");
            put_place(page, record, &record->places[i]);
            first = false;
        }
    put(page, "]}");
}

void write_report(void)
{
    static atomic_flag writing = ATOMIC_FLAG_INIT;
    if (!atomic_load(&settings.ready) || atomic_flag_test_and_set(&writing))
        return;
    int error = errno;
    bool was_inside = inside;
    inside = true;
    static struct page page;
    page.used = 0;
    /* A process without watched threads (a shell around the program) must not overwrite the report of one that has some. */
    int already = atomic_load(&record_count) > 0 ? O_TRUNC : O_EXCL;
    page.file = *settings.report ? open(settings.report, O_WRONLY | O_CREAT | already | O_CLOEXEC, 0644) : 2;
    if (page.file >= 0) {
        put(&page, "{\"pid\": %d, \"prefix\": ", (int)getpid());
        put_name(&page, settings.prefix);
        put(&page, ", \"run_in_s\": %.3f, \"span_s\": %.3f,\n  \"threads\": [", (double)settings.run_in * 1e-9,
            (double)settings.span * 1e-9);
        bool first = true;
        for (int i = 0; i < THREADS_MAX; i++)
            if (atomic_load_explicit(&records[i].used, memory_order_acquire)) {
                put(&page, "%s", first ? "" : ",");
                put_record(&page, &records[i]);
                first = false;
            }
        put(&page, "]}\n");
        flush(&page);
        if (page.file != 2)
            close(page.file);
    }
    inside = was_inside;
    errno = error;
    atomic_flag_clear(&writing);
}
