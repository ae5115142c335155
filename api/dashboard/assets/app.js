// What pages do beyond forms and links. Everything works without it.
(() => {
    for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;

    // What a desktop shows opened takes many screens of a phone.
    for (const part of document.querySelectorAll('details[data-folds]')) {
        const narrow = matchMedia(`(max-width: ${part.dataset.folds || '44rem'})`);
        if (!narrow.matches) continue;
        part.open = false;
        narrow.addEventListener('change', () => {
            if (!narrow.matches) part.open = true;
        });
    }

    // What a small screen folds is on paper.
    let printed = [];
    addEventListener('beforeprint', () => {
        printed = [...document.querySelectorAll('details[data-folds]:not([open])')];
        for (const part of printed) part.open = true;
    });
    addEventListener('afterprint', () => {
        for (const part of printed) part.open = false;
    });

    // What a link leads to is opened, and what it stands in. While the page loads, `:target` does not match yet.
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

    // A form that was sent is not sent twice by an impatient finger. It comes back to life when the page is shown again.
    document.addEventListener('submit', (event) => {
        if (event.defaultPrevented) return;
        const buttons = event.target.querySelectorAll('button[type=submit]');
        setTimeout(() => {
            for (const button of buttons) button.disabled = true;
        });
    });
    // Firefox keeps a button disabled, even where it loads the page again.
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
            // No clipboard without https: what is selected can be copied by hand.
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
