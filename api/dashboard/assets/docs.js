// Sends the calls of the page of the API to this server, and shows what came back as text.
(() => {
    const key = document.getElementById('docs-key');

    // In the way down, before the page takes the form for one that is sent once.
    const send = async (event) => {
        const form = event.target.closest('form[data-try]');
        if (form === null) return;
        event.preventDefault();
        const place = form.querySelector('[data-answer]');
        place.hidden = false;
        place.textContent = 'Sending…';
        const began = performance.now();
        try {
            const response = await fetch(...callOf(form));
            const text = await response.text();
            show(place, response, text, Math.round(performance.now() - began));
        } catch (error) {
            place.textContent = `It could not be sent: ${error.message}`;
        }
    };
    document.addEventListener('submit', send, { capture: true });

    // Examples stand in the OpenAPI document, and are shown from there.
    let described;
    const showExample = async ({ currentTarget: place }) => {
        described ??= fetch('/v1/openapi.json', { credentials: 'omit' }).then((response) => response.json());
        const { paths } = await described;
        const operation = Object.values(paths)
            .flatMap(Object.values)
            .find(({ operationId }) => operationId === place.dataset.example);
        const [example] = Object.values(operation.responses).flatMap(({ content }) => content?.['application/json']?.example ?? []);
        place.querySelector('pre').textContent = JSON.stringify(example, null, 2);
    };
    for (const place of document.querySelectorAll('[data-example]')) place.addEventListener('toggle', showExample, { once: true });

    function callOf(form) {
        const query = new URLSearchParams();
        let { path } = form.dataset;
        for (const input of form.querySelectorAll('[data-place]')) {
            const value = input.value.trim();
            if (input.dataset.place === 'path') path = path.replace(`{${input.name}}`, encodeURIComponent(value));
            else if (value !== '') query.set(input.name, value);
        }
        const body = form.querySelector('[data-body]')?.value;
        const headers = {};
        if (key.value.trim() !== '' && form.dataset.auth !== 'ignored') headers.authorization = `Bearer ${key.value.trim()}`;
        if (body !== undefined) headers['content-type'] = 'application/json';
        // No cookies: what this page does is what the key may do, and nothing of whoever is signed in.
        return [`${path}${query.size > 0 ? `?${query}` : ''}`, { method: form.dataset.method, headers, body, credentials: 'omit' }];
    }

    function show(place, response, text, ms) {
        const line = document.createElement('p');
        line.className = response.ok ? 'docs-status good' : 'docs-status bad';
        line.textContent = `${response.status} ${response.statusText} in ${ms} ms`;
        const facts = document.createElement('p');
        facts.className = 'small-print mono';
        facts.textContent = ['x-request-id', 'ratelimit', 'retry-after']
            .map((name) => [name, response.headers.get(name)])
            .filter(([, value]) => value !== null)
            .map(([name, value]) => `${name}: ${value}`)
            .join(' · ');
        const pre = document.createElement('pre');
        pre.tabIndex = 0;
        pre.textContent = pretty(text);
        place.replaceChildren(line, facts, pre);
    }

    function pretty(text) {
        try {
            const shown = JSON.stringify(JSON.parse(text), null, 2);
            return shown.length > 100_000 ? `${shown.slice(0, 100_000)}\n…` : shown;
        } catch {
            return text;
        }
    }
})();
