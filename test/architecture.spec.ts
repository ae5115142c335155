import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ROUTES } from '../api/routes.ts';
import { CONTRACTS } from '../shared/contracts/index.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PRODUCT = ['api', 'bin', 'cli', 'migrations', 'shared', 'workers'];

interface SourceFile {
    /** Relative to the root, with forward slashes. */
    path: string;
    text: string;
    /** Its imports: files by their path from the root, packages by their specifier. */
    imports: string[];
}

/** Folders of the API that serve all features. */
const COMMON = ['admission', 'answers', 'auth', 'bodies', 'packages', 'plugins'];

const files = [...PRODUCT, 'bench', 'test'].flatMap(sourcesBelow);
const product = files.filter(({ path }) => PRODUCT.includes(path.split('/')[0] ?? ''));
const below = (folder: string) => files.filter(({ path }) => path.startsWith(`${folder}/`));

/** Imports of `from` that no pattern allows, as `file imports what`. */
function strays(from: readonly SourceFile[], allowed: RegExp): string[] {
    return from.flatMap(({ path, imports }) => imports.filter((name) => !allowed.test(name)).map((name) => `${path} imports ${name}`));
}

/** Imports of `from` that match a forbidden pattern. */
function forbidden(from: readonly SourceFile[], pattern: RegExp): string[] {
    return from.flatMap(({ path, imports }) => imports.filter((name) => pattern.test(name)).map((name) => `${path} imports ${name}`));
}

/** The file with its imports inside the project only. */
const withoutPackages = (file: SourceFile): SourceFile => ({ ...file, imports: file.imports.filter((path) => /\.ts$/.test(path)) });

describe('the architecture', () => {
    it('is read from real files', () => {
        expect(product.length).to.be.greaterThan(150);
        expect(product.flatMap(({ imports }) => imports).length).to.be.greaterThan(400);
    });

    describe('allows imports only downward:', () => {
        it('the domain is pure: rules, the table of refusals and libraries without I/O', () => {
            // Only Node modules that compute: hashes and random bytes, IDNA, CRC-32. lru-cache limits the cache of compiled schemas.
            const pure =
                /^(shared\/domain\/|shared\/refusals\.ts$|(ajv|ajv-formats|re2js|cheerio|tldts|canonicalize|croner|ipaddr\.js|lru-cache)(\/|$)|node:(crypto|url|zlib)$)/;
            expect(strays(below('shared/domain'), pure)).to.deep.equal([]);
        });

        it('the domain has no clock, no timer and no environment', () => {
            const impure = /\b(Date\.now|performance\.now|new Date\(\)|Math\.random|setTimeout|setInterval|process\.|fetch\()/;
            expect(
                below('shared/domain')
                    .filter(({ text }) => impure.test(code(text)))
                    .map(({ path }) => path),
            ).to.deep.equal([]);
        });

        it('contracts import the domain, the refusals and Joi', () => {
            expect(strays(below('shared/contracts'), /^(shared\/(domain|contracts)\/|shared\/refusals\.ts$|joi$)/)).to.deep.equal([]);
        });

        it('the platform imports the domain and the refusals, and nothing above it', () => {
            expect(
                strays(below('shared/platform').map(withoutPackages), /^(shared\/(platform|domain)\/|shared\/refusals\.ts$)/),
            ).to.deep.equal([]);
        });

        it('coordination and stores import the platform and the domain, and not each other', () => {
            for (const floor of ['coordination', 'store']) {
                const allowed = new RegExp(`^(shared/(${floor}|platform|domain)/|shared/refusals\\.ts$)`);
                expect(strays(below(`shared/${floor}`).map(withoutPackages), allowed), floor).to.deep.equal([]);
            }
        });

        it('shared/ has few top-level folders', () => {
            expect(readdirSync(join(ROOT, 'shared')).length).to.be.at.most(14);
        });

        it('stores import the database and the domain, never the wire', () => {
            expect(forbidden(below('shared/store'), /^(shared\/contracts\/|@hapi\/|joi$|api\/|workers\/|bullmq|ioredis)/)).to.deep.equal(
                [],
            );
        });

        it('shared/ imports neither the API nor the workers', () => {
            expect(forbidden(below('shared'), /^(api|workers|bin|cli|bench|test)\//)).to.deep.equal([]);
        });

        it('a feature of the API imports neither another feature nor the workers', () => {
            const features = readdirSync(join(ROOT, 'api'), { withFileTypes: true }).filter(
                (entry) => entry.isDirectory() && !COMMON.includes(entry.name),
            );
            for (const { name } of features) {
                const others = features.filter((feature) => feature.name !== name).map((feature) => feature.name);
                expect(forbidden(below(`api/${name}`), new RegExp(`^(workers/|api/(${others.join('|')})/)`))).to.deep.equal([]);
            }
            for (const folder of COMMON)
                expect(
                    forbidden(below(`api/${folder}`), new RegExp(`^api/(${features.map(({ name }) => name).join('|')})/`)),
                ).to.deep.equal([]);
            expect(forbidden(below('api'), /^workers\//)).to.deep.equal([]);
        });

        it('workers never import the API, nor hapi or Joi', () => {
            expect(forbidden(below('workers'), /^(api\/|@hapi\/|joi$|shared\/contracts\/)/)).to.deep.equal([]);
        });

        it('paging imports rules and selections only, so that it can do no I/O', () => {
            expect(strays(below('workers/paging'), /^(shared\/domain\/|shared\/refusals\.ts$|workers\/(paging|select)\/)/)).to.deep.equal(
                [],
            );
        });

        it('the command line never imports a store, nor anything that only a server needs', () => {
            expect(forbidden(below('cli'), /^(shared\/(store\/|platform\/db\.ts)|api\/|bin\/)/)).to.deep.equal([]);
            // Neither do its indirect imports, since contributors do not install the server.
            const reached = reachedFrom(below('cli').map(({ path }) => path));
            expect(reached.size).to.be.greaterThan(100);
            expect(forbidden([...reached], /^(knex|pg|bullmq|ioredis|joi|pino|prom-client|stripe|nodemailer|@hapi\/.*)$/)).to.deep.equal(
                [],
            );
        });

        it('drafts of packages are made in steps, each of which knows only those before it', () => {
            const steps = ['words', 'exchanges', 'pages', 'routes', 'drafts'];
            for (const [place, step] of steps.entries()) {
                const later = new RegExp(`^cli/inspect/(?:(?:${steps.slice(place + 1).join('|') || 'none'})/|[^/]+$)`);
                const own = below(`cli/inspect/${step}`);
                expect(own.length, step).to.be.greaterThan(5);
                expect(forbidden(own, later)).to.deep.equal([]);
            }
        });

        it('the client for callers has no dependencies, not even on Node', () => {
            const outside = [...reachedFrom(['cli/client/index.ts'])].flatMap(({ imports }) =>
                imports.filter((name) => !/\.ts$/.test(name)),
            );
            expect(outside).to.deep.equal([]);
        });

        it('no file imports itself indirectly', () => {
            const imports = new Map(product.map((file) => [file.path, file.imports.filter((path) => /\.ts$/.test(path))]));
            const done = new Set<string>();
            const circles: string[] = [];
            const visit = (path: string, way: readonly string[]) => {
                if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' imports '));
                if (done.has(path) || way.includes(path)) return;
                for (const next of imports.get(path) ?? []) visit(next, [...way, path]);
                done.add(path);
            };
            for (const path of imports.keys()) visit(path, []);
            expect(circles).to.deep.equal([]);
        });

        it('the product imports neither tests nor the bench', () => {
            expect(forbidden(product, /^(test|bench)\//)).to.deep.equal([]);
        });
    });

    describe('gives each concern one place:', () => {
        it('the environment is read in shared/platform/config.ts only', () => {
            // A child process gets an environment that its parent builds, with PATH. It configures nothing.
            const homes = ['shared/platform/config.ts', 'shared/platform/embedded-postgres/server.ts'];
            // The command line is another program, with settings of its own.
            homes.push('cli/settings.ts');
            const readers = product.filter(({ text }) => /process\s*\.\s*env\b|process\[['"]env/.test(code(text))).map(({ path }) => path);
            expect(readers.filter((path) => !homes.includes(path))).to.deep.equal([]);
        });

        it('the time of SQL is app_now(), which tests can move', () => {
            const clock =
                /(?<![\w.])(now\(\)|current_timestamp|current_date|localtimestamp|clock_timestamp\(\)|statement_timestamp\(\)|transaction_timestamp\(\))/i;
            const homes = ['migrations/100_common_functions.ts', 'migrations/300_limits.ts'];
            const users = product.filter(({ text }) => templatesOf(text).some((sql) => clock.test(sql))).map(({ path }) => path);
            expect(users).to.deep.equal(homes);
        });

        it('outbound HTTP is in workers/upstream only', () => {
            const clients = forbidden(product, /^(got|undici|axios|node-fetch|hpagent|node:https)(\/|$)/).filter(
                (line) => !/^workers\/(upstream|egress)/.test(line),
            );
            expect(clients).to.deep.equal([]);
            const fetching = product.filter(({ text }) => /(?<![\w.])fetch\(/.test(code(text))).map(({ path }) => path);
            // The client and the scripts of its pages in a browser call Routebook itself. The embeddings server belongs to the operator,
            // like the mail server: no published package names its address.
            const ours = /^(cli\/client\/|api\/dashboard\/assets\/|shared\/platform\/embedder\.ts$)/;
            expect(fetching.filter((path) => !ours.test(path))).to.deep.equal([]);
        });

        it('OpenTelemetry is in shared/platform/tracing/otel.ts only, which is loaded on demand', () => {
            const others = product.filter(({ path }) => path !== 'shared/platform/tracing/otel.ts');
            expect(forbidden(others, /^@opentelemetry\//)).to.deep.equal([]);
            expect(forbidden(others, /^shared\/platform\/tracing\/otel\.ts$/)).to.deep.equal([
                'shared/platform/tracing/open.ts imports shared/platform/tracing/otel.ts',
            ]);
            expect(product.filter(({ text }) => /\bfrom '[^']*otel\.ts'/.test(text))).to.deep.equal([]);
        });
    });

    it('serves every contract exactly once', () => {
        const served = ROUTES.map(({ contract }) => `${contract.method} ${contract.path}`);
        expect(served).to.have.members(CONTRACTS.map(({ method, path }) => `${method} ${path}`));
        expect(new Set(served).size).to.equal(served.length);
        expect(new Set(CONTRACTS.map(({ name }) => name)).size).to.equal(CONTRACTS.length);
    });
});

function sourcesBelow(folder: string): SourceFile[] {
    // A clone lacks folders that are empty.
    if (!existsSync(join(ROOT, folder))) return [];
    return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(ts|mts|mjs|js)$/.test(entry.name) && !/node_modules|cli\/dist/.test(entry.parentPath))
        .map((entry) => {
            const file = join(entry.parentPath, entry.name);
            const text = readFileSync(file, 'utf8');
            return { path: relative(ROOT, file), text, imports: importsOf(file, text) };
        });
}

/** These files and all their direct and indirect imports at run time. */
function reachedFrom(start: readonly string[]): Set<SourceFile> {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const reached = new Set<SourceFile>();
    const waiting = [...start];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        const file = byPath.get(path);
        if (file === undefined || reached.has(file)) continue;
        const text = file.text.replaceAll(/^(import|export) type\b[^;]*;/gm, '');
        const lasting = { ...file, imports: importsOf(join(ROOT, path), text) };
        byPath.set(path, lasting);
        reached.add(lasting);
        waiting.push(...lasting.imports);
    }
    return reached;
}

function importsOf(file: string, text: string): string[] {
    const statements = text.matchAll(
        /^(?:import|export)\b[^;'"`]*?\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]|new URL\(\s*['"](\.[^'"]+\.[jt]s)['"]/gm,
    );
    return [...statements].map(([, from, bare, dynamic, url]) => {
        const specifier = from ?? bare ?? dynamic ?? url ?? '';
        return specifier.startsWith('.') ? relative(ROOT, resolve(dirname(file), specifier)) : specifier;
    });
}

/** The text without comments and without the contents of quotes. */
function code(text: string): string {
    return text
        .replaceAll(/\/\*[\s\S]*?\*\//g, '')
        .replaceAll(/(?<!:)\/\/.*$/gm, '')
        .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''");
}

/** The contents of template literals, which contain the SQL, and of single-quoted statements. */
function templatesOf(text: string): string[] {
    const stripped = text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
    const statements = [...stripped.matchAll(/`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g)].map(([quoted]) =>
        quoted.replaceAll(/\$\{[^}]*\}/g, ''),
    );
    return statements.filter((quoted) => /\b(select|insert|update|delete|create|values|set)\b/i.test(quoted));
}
