// Fills a text field from a file of the visitor's, so that it can be looked at before it is sent.
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
