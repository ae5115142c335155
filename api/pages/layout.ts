/** A whole HTML page around `body`; both are trusted markup of our own. */
export function page(title: string, body: string): string {
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · Routebook</title><style>
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;display:block;overflow-x:auto}
td,th{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8884}
tr:target{background:#ff02}
code{font-family:ui-monospace,monospace}
</style></head><body><h1>${title}</h1>${body}</body></html>`;
}
