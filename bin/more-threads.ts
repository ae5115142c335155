/**
 * Names are looked up in threads of libuv's pool, of which lookups may hold half: with its usual four, two sites whose name servers
 * never answer would keep all others from being looked up. Imported before anything else, since the pool is made at its first use.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16';
