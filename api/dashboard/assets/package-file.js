// Fills a text field from a chosen file, so that the visitor can review it before sending.
(() => {
    for (const chooser of document.querySelectorAll('[data-fills]')) {
        chooser.hidden = false;
        chooser.querySelector('input[type=file]').addEventListener('change', async (event) => {
            const [file] = event.target.files;
            if (file === undefined) return;
            const field = document.getElementById(chooser.dataset.fills);
            field.value = await file.text();
            field.focus();
        });
    }
})();
