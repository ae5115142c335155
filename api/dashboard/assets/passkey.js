// A form with data-passkey asks the browser to make ("create") or use ("get") a passkey, and sends what it answers.
(() => {
    for (const form of document.querySelectorAll('form[data-passkey]')) {
        form.addEventListener('submit', (event) => {
            event.preventDefault();
            send(form);
        });
    }

    async function send(form) {
        const problem = form.querySelector('[data-passkey-problem]');
        problem.hidden = true;
        try {
            form.elements.credential.value = JSON.stringify(await ask(form));
            form.submit();
        } catch (error) {
            problem.textContent =
                error.name === 'InvalidStateError'
                    ? 'This device already has a passkey for your account.'
                    : 'No passkey was used. Try again.';
            problem.hidden = false;
        }
    }

    async function ask(form) {
        const options = JSON.parse(form.dataset.options);
        const credential =
            form.dataset.passkey === 'create'
                ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
                : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
        return credential.toJSON();
    }
})();
