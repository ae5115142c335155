// Sends the calls of the API reference to this server, and shows the answers as text. Scrolls the menu to the current page.
(() => {
    const key = document.getElementById('docs-key');

    const menu = document.querySelector('.docs-menu');
    menu.scrollTop = menu.querySelector('[aria-current]').offsetTop - menu.clientHeight / 2;

    // Runs in the capture phase, before app.js disables the button of a sent form.
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
            place.textContent = `Could not send the request: ${error.message}`;
        }
    };
    document.addEventListener('submit', send, { capture: true });

    // Examples and forms are made from the OpenAPI document when they are opened.
    let described;
    const findOperation = async (id) => {
        described ??= fetch('/v1/openapi.json', { credentials: 'omit' }).then((response) => response.json());
        const { paths } = await described;
        return Object.entries(paths)
            .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })))
            .find(({ operationId }) => operationId === id);
    };
    const showExample = async ({ currentTarget: place }) => {
        const operation = await findOperation(place.dataset.example);
        const [example] = Object.values(operation.responses).flatMap(({ content }) => content?.['application/json']?.example ?? []);
        const text = JSON.stringify(example, null, 2);
        const pre = element('pre', { className: 'docs-example', tabIndex: 0, role: 'group', textContent: text });
        pre.ariaLabel = `answer of ${operation.operationId}`;
        place.append(pre);
    };
    for (const place of document.querySelectorAll('[data-example]')) place.addEventListener('toggle', showExample, { once: true });
    const showForm = async ({ currentTarget: place }) => place.append(formOf(await findOperation(place.dataset.call)));
    for (const place of document.querySelectorAll('[data-call]')) place.addEventListener('toggle', showForm, { once: true });

    function formOf({ operationId, method, path, security = [], parameters = [], requestBody }) {
        const values = JSON.parse(document.querySelector('[data-values]').dataset.values);
        const form = element('form', { className: 'stack', autocomplete: 'off', spellcheck: false });
        Object.assign(form.dataset, { try: '', method: method.toUpperCase(), path, auth: security.length > 0 ? 'taken' : 'ignored' });
        for (const { name, in: place, required, schema } of parameters) {
            if (place !== 'path' && place !== 'query') continue;
            const words = element('span', { className: 'mono', textContent: name });
            if (!required) words.append(' ', element('span', { className: 'faint', textContent: 'optional' }));
            const choices = schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : undefined);
            const input = element(choices ? 'select' : 'input', { name });
            for (const choice of choices ? ['', ...choices] : []) input.append(element('option', { textContent: choice }));
            const value = required || operationId === 'getCatalog' ? (values[name] ?? '') : '';
            if (!choices) Object.assign(input, { value, required });
            input.dataset.place = place;
            form.append(labelOf(words, input));
        }
        const body = requestBody && JSON.stringify(requestBody.content['application/json'].example, null, 2);
        if (body !== undefined) {
            const area = element('textarea', { className: 'mono', rows: Math.min(14, body.split('\n').length + 1), value: body });
            area.dataset.body = '';
            form.append(labelOf(element('span', { textContent: 'Body' }), area));
        }
        const row = element('div', { className: 'row' });
        row.append(element('button', { className: 'button small', type: 'submit', textContent: 'Send' }));
        const answer = element('div', { className: 'docs-answer', hidden: true, role: 'status' });
        answer.dataset.answer = '';
        form.append(row, answer);
        return form;
    }

    function labelOf(words, input) {
        const label = element('label', { className: 'field' });
        label.append(words, input);
        return label;
    }

    function element(tag, properties) {
        return Object.assign(document.createElement(tag), properties);
    }

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
        // Sends no cookies, so that a call has only the rights of the key, not those of the signed-in user.
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
