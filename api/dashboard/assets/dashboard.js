// What menus and questions of the dashboard do beyond opening. Everything works without it.
(() => {
    // On a phone the menu is wider than the screen.
    document.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

    for (const way of ['click', 'focusin']) document.addEventListener(way, (event) => leaveMenus(event.target));

    function leaveMenus(target) {
        for (const menu of document.querySelectorAll('details.menu[open]')) {
            if (!menu.contains(target)) menu.open = false;
        }
    }

    document.addEventListener('keydown', (event) => {
        if (event.key !== 'Escape') return;
        for (const menu of document.querySelectorAll('details.menu[open]')) fold(menu);
        const ask = document.activeElement?.closest('details.ask[open]');
        if (ask) fold(ask);
    });

    function fold(details) {
        details.open = false;
        details.querySelector('summary').focus();
    }

    // A question that was opened can be closed again, and the focus of the button that it replaces moves into it.
    for (const ask of document.querySelectorAll('details.ask')) {
        const send = [...ask.querySelectorAll('button[type=submit]')].at(-1);
        const back = document.createElement('button');
        Object.assign(back, { type: 'button', className: 'button plain', textContent: 'Not now' });
        back.classList.toggle('small', send.classList.contains('small'));
        back.addEventListener('click', () => fold(ask));
        const row = document.createElement('div');
        row.className = 'row';
        send.replaceWith(row);
        row.append(send, back);
        ask.querySelector('summary').addEventListener('click', () => {
            // Not the button that sends: a key that is held would press it.
            setTimeout(() => (ask.querySelector('input:not([type=hidden]), select, textarea') ?? back).focus());
        });
    }
})();
