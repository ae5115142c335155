// Runs the built node in n8n's own engine. Reads {credential, parameters, items, continueOnFail, maxWaitMs} as JSON; prints {items} or {error}.
'use strict';

const { readFileSync } = require('node:fs');
const { resolve } = require('node:path');
require('reflect-metadata');
const { ExecutionLifecycleHooks, PackageDirectoryLoader, WorkflowExecute } = require('n8n-core');
const { createRunExecutionData, ICredentialsHelper, Workflow } = require('n8n-workflow');

const given = JSON.parse(readFileSync(0, 'utf8'));
const TYPE = 'n8n-nodes-routebook.routebook';

// A test does not wait as long as a user.
if (given.maxWaitMs !== undefined) {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => timeout(Math.min(ms, given.maxWaitMs));
}

/** The credential of the input, used as the credential's own file says. */
class Credentials extends ICredentialsHelper {
    constructor(type) {
        super();
        this.type = type;
    }

    getParentTypes() {
        return [];
    }

    isCredentialUsableByNode() {
        return true;
    }

    async authenticate(credentials, _name, options) {
        const { headers } = this.type.authenticate.properties;
        const filled = Object.entries(headers).map(([name, text]) => [
            name,
            text.replace(/^=/, '').replace(/\{\{\$credentials\.(\w+)\}\}/g, (_all, field) => credentials[field]),
        ]);
        return { ...options, headers: { ...options.headers, ...Object.fromEntries(filled) } };
    }

    async preAuthentication() {
        return undefined;
    }

    async runPreAuthentication() {
        return undefined;
    }

    async getCredentials() {
        throw new Error('credentials are not stored here');
    }

    async getDecrypted() {
        return given.credential;
    }

    async updateCredentials() {}

    async updateCredentialsOauthTokenData() {}
}

async function run() {
    const loader = new PackageDirectoryLoader(resolve(__dirname, '..'));
    await loader.loadAll();
    const node = loader.getNode('routebook').type;
    const nodeTypes = { getByName: () => node, getByNameAndVersion: () => node, getKnownTypes: () => ({}) };
    const routebook = {
        id: 'a0000000-0000-4000-8000-000000000000',
        name: 'Routebook',
        type: TYPE,
        typeVersion: 1,
        position: [0, 0],
        parameters: given.parameters,
        credentials: { routebookApi: { id: '1', name: 'Routebook' } },
        ...(given.continueOnFail ? { onError: 'continueRegularOutput' } : {}),
    };
    const workflow = new Workflow({ id: '1', name: 'Test', nodes: [routebook], connections: {}, active: false, nodeTypes, settings: {} });
    const data = { main: [given.items.map((json) => ({ json }))] };
    const started = createRunExecutionData({
        executionData: {
            contextData: {},
            metadata: {},
            nodeExecutionStack: [{ node: workflow.getNode('Routebook'), data, source: null }],
            waitingExecution: {},
            waitingExecutionSource: {},
        },
    });
    const additional = {
        credentialsHelper: new Credentials(loader.getCredential('routebookApi').type),
        hooks: new ExecutionLifecycleHooks('manual', '1', { id: '1', name: 'Test', nodes: [routebook], connections: {} }),
        executionId: given.executionId,
        currentNodeExecutionIndex: 0,
        restApiUrl: 'http://127.0.0.1/rest',
        instanceBaseUrl: 'http://127.0.0.1/',
        formWaitingBaseUrl: 'http://127.0.0.1/form-waiting',
        webhookWaitingBaseUrl: 'http://127.0.0.1/webhook-waiting',
        variables: {},
        externalSecretsProxy: {},
        logAiEvent() {},
    };
    const { data: ended } = await new WorkflowExecute(additional, 'manual', started).processRunExecutionData(workflow);
    const { error, runData } = ended.resultData;
    if (error) return { error: { message: error.message, description: error.description, httpCode: error.httpCode } };
    return { items: runData.Routebook[0].data.main[0] };
}

run().then(
    (outcome) => process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit(0)),
    (error) => {
        console.error(error);
        process.exit(1);
    },
);
