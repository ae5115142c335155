// Conveniences of all pages. Everything works without them.
(() => {
    for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;

    // Folds sections on a phone, where they would take many screens.
    for (const part of document.querySelectorAll('details[data-folds]')) {
        const narrow = matchMedia(`(max-width: ${part.dataset.folds || '44rem'})`);
        if (!narrow.matches) continue;
        part.open = false;
        narrow.addEventListener('change', () => {
            if (!narrow.matches) part.open = true;
        });
    }

    // Opens folded sections for printing.
    let printed = [];
    addEventListener('beforeprint', () => {
        printed = [...document.querySelectorAll('details[data-folds]:not([open])')];
        for (const part of printed) part.open = true;
    });
    addEventListener('afterprint', () => {
        for (const part of printed) part.open = false;
    });

    // Opens the target of a link and the sections around it. While the page loads, `:target` does not match yet.
    const openTarget = () => {
        const target = document.getElementById(location.hash.slice(1));
        if (target === null) return;
        const closed = [...target.querySelectorAll(':scope > details[data-folds]:not([open])')];
        for (let part = target.closest('details'); part; part = part.parentElement.closest('details')) {
            if (!part.open) closed.push(part);
        }
        for (const part of closed) part.open = true;
        if (closed.length > 0) target.scrollIntoView();
    };
    openTarget();
    addEventListener('hashchange', openTarget);

    document.addEventListener('click', async (event) => {
        const button = event.target.closest('[data-copy]');
        if (button !== null) await copy(button);
    });

    // Disables the buttons of a sent form, so that a double click does not send it twice.
    document.addEventListener('submit', (event) => {
        if (event.defaultPrevented) return;
        const buttons = event.target.querySelectorAll('button[type=submit]');
        setTimeout(() => {
            for (const button of buttons) button.disabled = true;
        });
    });
    // Enables them when the page is shown again. Firefox keeps a button disabled even after a reload.
    addEventListener('pageshow', () => {
        for (const button of document.querySelectorAll('button[type=submit]')) button.disabled = false;
    });

    async function copy(button) {
        const source = document.getElementById(button.dataset.copy);
        const text = source.value ?? source.textContent;
        try {
            await navigator.clipboard.writeText(text);
            say(button, 'Copied');
        } catch {
            // There is no clipboard without https. Selects the text, to be copied by hand.
            const range = document.createRange();
            range.selectNodeContents(source);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
            say(button, 'Selected');
        }
    }

    function say(button, text) {
        const [label] = button.childNodes;
        label.textContent = text;
        clearTimeout(Number(button.dataset.timer));
        button.dataset.timer = setTimeout(() => {
            label.textContent = 'Copy';
        }, 2000);
    }
})();
