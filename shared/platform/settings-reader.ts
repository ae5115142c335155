import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseSecretKeys, type SecretKey } from '../domain/accounts/key-ring.ts';
import { type EgressAllowEntry, parseEgressAllow } from '../domain/site/egress-allow.ts';
import { joinNames, type NameList, readNames } from '../domain/site/name-list.ts';

/** One or more settings are invalid. Each line names the setting, the problem and an example. */
export class ConfigFault extends Error {
    readonly lines: string[];

    constructor(lines: string[]) {
        super(lines.join('\n'));
        this.name = 'ConfigFault';
        this.lines = lines;
    }
}

export type Env = Readonly<Record<string, string | undefined>>;

/** Reads settings and collects all faults, so that people can fix them together. */
export class SettingsReader {
    readonly #env: Env;
    readonly #faults: string[] = [];

    constructor(env: Env) {
        this.#env = env;
    }

    throwFaults(): void {
        if (this.#faults.length > 0) throw new ConfigFault(this.#faults);
    }

    /** An empty value counts as not set, because compose files and CI systems express "not set" like this. */
    value(name: string): string | undefined {
        const value = this.#env[name]?.trim();
        return value === '' ? undefined : value;
    }

    fault(name: string, problem: string, example: string): undefined {
        return this.report(`${name}: ${problem}; for example ${name}=${example}`);
    }

    /** Adds a fault in words of its own. */
    report(line: string): undefined {
        this.#faults.push(line);
        return undefined;
    }

    integer(name: string, bounds: { min: number; max: number; fallback: number }): number {
        return this.optionalInteger(name, bounds) ?? bounds.fallback;
    }

    optionalInteger(name: string, { min, max, fallback }: { min: number; max: number; fallback: number }): number | undefined {
        const value = this.value(name);
        if (value === undefined) return undefined;
        const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
        if (number >= min && number <= max) return number;
        return this.fault(name, `must be a whole number from ${min} to ${max}`, String(fallback));
    }

    amount(name: string): number {
        const value = this.value(name);
        if (value === undefined) return 0;
        const number = /^\d{1,9}(\.\d{1,12})?$/.test(value) ? Number(value) : Number.NaN;
        return Number.isNaN(number) ? (this.fault(name, 'must be dollars, a decimal number of 0 or more', '0.00002') ?? 0) : number;
    }

    /** @returns 0.1 to 1 */
    share(name: string, fallback: number): number {
        const value = this.value(name);
        if (value === undefined) return fallback;
        const number = /^(0\.\d{1,6}|1(\.0{1,6})?)$/.test(value) ? Number(value) : Number.NaN;
        return number >= 0.1 ? number : (this.fault(name, 'must be a share of 0.1 to 1', '0.8') ?? fallback);
    }

    flag(name: string, fallback: boolean): boolean {
        const value = this.value(name);
        if (value === undefined) return fallback;
        if (value === 'true' || value === 'false') return value === 'true';
        return this.fault(name, 'must be true or false', 'false') ?? fallback;
    }

    oneOf(name: string, allowed: readonly string[], fallback: string): string {
        const value = this.value(name);
        if (value === undefined || allowed.includes(value)) return value ?? fallback;
        return this.fault(name, `must be one of ${allowed.join(', ')}`, fallback) ?? fallback;
    }

    text(name: string, pattern: RegExp, what: string, example: string): string | undefined {
        const value = this.value(name);
        if (value === undefined || pattern.test(value)) return value;
        return this.fault(name, `must be ${what}`, example);
    }

    host(name: string, example: string): string | undefined {
        const value = this.value(name);
        const isName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;
        // hapi accepts no zone ids (`fe80::1%eth0`), and no name that a URL could not hold (`999.1.1.1`).
        if (value === undefined || (isName.test(value) && URL.canParse(`http://${value}`)) || (isIP(value) !== 0 && !value.includes('%')))
            return value;
        return this.fault(name, 'must be a host name or an address without brackets to listen on', example);
    }

    /**
     * The message never repeats the value, because database URLs contain passwords.
     * @param options.mayLackHost the URL of a unix socket has no host (`postgresql://user@/name?host=/dir`)
     */
    url(name: string, protocols: readonly string[], example: string, { mayLackHost = false } = {}): string | undefined {
        const value = this.value(name);
        if (value === undefined) return undefined;
        const beginnings = protocols.map((protocol) => `${protocol}//`);
        if (!beginnings.some((beginning) => value.toLowerCase().startsWith(beginning))) {
            return this.fault(name, `must be a URL that begins with ${beginnings.join(' or ')}`, example);
        }
        // The parser takes the first word after any number of slashes as the host, and rejects a user without a host.
        const whole = mayLackHost ? value.replace(/^([a-z]+:\/\/[^/?#]*@|[a-z]+:\/\/)(?=[/?]|$)/i, '$1socket') : value;
        if (/^[a-z]+:\/\/[^/\\?#]/i.test(whole) && URL.canParse(whole)) return value;
        return this.fault(name, 'must be a URL with a host, and a port up to 65535 if any', example);
    }

    database(name: string, host: string): string | undefined {
        const example = `postgresql://user:password@${host}:5432/routebook`;
        return this.url(name, ['postgres:', 'postgresql:'], example, { mayLackHost: true });
    }

    replica(name: string, primary: string): string | undefined {
        const url = this.database(name, 'replica.example');
        if (url === undefined || this.value(primary) !== undefined) return url;
        return this.report(
            `${name}: needs ${primary}, which it is a replica of; for example ${primary}=postgresql://user:password@db.example:5432/routebook`,
        );
    }

    /** Paths are appended to the URL, so it may have no query or fragment. */
    publicUrl(name: string, example: string): string | undefined {
        const value = this.url(name, ['http:', 'https:'], example);
        if (value === undefined || /^[a-z]+:\/\/[^\s/\\?#@]+(\/[^\s\\?#]*)?$/i.test(value)) return value;
        return this.fault(name, 'must be a URL without user, query, fragment and spaces', example);
    }

    /** A mail address, alone or in angle brackets after a name. */
    sender(name: string, example: string): string | undefined {
        const value = this.value(name);
        const address = value === undefined ? undefined : (/^[^<>]*<([^<>]*)>$/.exec(value)?.[1] ?? value);
        // The domain may lack a dot, as in internal mail systems.
        if (address === undefined || /^[^\s@<>,]+@[^\s@<>,]+$/.test(address)) return value;
        return this.fault(name, 'must be a mail address, alone or in angle brackets after a name', example);
    }

    #list(name: string): string[] {
        return (this.value(name) ?? '')
            .split(',')
            .map((entry) => entry.trim())
            .filter(Boolean);
    }

    emails(name: string): string[] {
        const list = this.#list(name).map((email) => email.toLowerCase());
        if (list.every((email) => /^[^@\s]+@[^@\s]+$/.test(email))) return list;
        return this.fault(name, 'must be mail addresses separated by commas', 'ops@routebook.example') ?? [];
    }

    addresses(name: string): string[] {
        const list = this.#list(name);
        const isRight = (entry: string) => {
            const [, ipv6 = '', ipv4 = '', port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(entry) ?? [];
            return (isIP(ipv6) === 6 || isIP(ipv4) === 4) && Number(port) >= 1 && Number(port) <= 65_535;
        };
        if (list.every(isRight)) return list;
        return this.fault(name, 'must be address:port pairs separated by commas', '192.0.2.53:53,[2001:db8::53]:53') ?? [];
    }

    egressAllow(name: string): readonly EgressAllowEntry[] {
        const value = this.value(name);
        if (value === undefined) return [];
        const parsed = parseEgressAllow(value);
        return parsed.ok ? parsed.entries : (this.fault(name, parsed.problem, '127.0.0.0/8:3000,[::1]/128:3000') ?? []);
    }

    secretKeys(name: string): readonly SecretKey[] {
        const value = this.value(name);
        if (value === undefined) return [];
        const parsed = parseSecretKeys(value);
        // The example makes a new key. People would copy a fixed one, and a published key protects nothing.
        return parsed.ok ? parsed.keys : (this.fault(name, parsed.problem, '"2026-11:$(openssl rand -base64 32)"') ?? []);
    }

    egressHosts(name: string): ReadonlyMap<string, readonly string[]> {
        const hosts = new Map<string, string[]>();
        for (const entry of this.#list(name)) {
            const [host, address, ...more] = entry.split('=').map((part) => part.trim().toLowerCase());
            const bare = address?.replace(/^\[(.*)\]$/, '$1');
            if (!host || !bare || more.length > 0 || isIP(bare) === 0 || !/^[a-z0-9.-]+$/.test(host)) {
                this.fault(name, 'must be name=address pairs separated by commas', 'shop.example=127.0.0.1');
                continue;
            }
            const bareHost = host.replace(/\.$/, '');
            hosts.set(bareHost, [...(hosts.get(bareHost) ?? []), bare]);
        }
        return hosts;
    }

    markdown(name: string): string | undefined {
        const text = this.#file(name, 'legal/terms.md')?.text;
        if (text === undefined || /^# \S/.test(text)) return text;
        return this.fault(name, 'must be Markdown whose first line is its title (`# Terms of service`)', 'legal/terms.md');
    }

    #file(name: string, example: string): { path: string; text: string } | undefined {
        const path = this.value(name);
        if (path === undefined) return undefined;
        try {
            return { path, text: readFileSync(path, 'utf8') };
        } catch {
            return this.fault(name, `must be a readable file, but ${path} is not`, example);
        }
    }

    /** A file of names that changes a shipped list. */
    names(name: string, shipped: NameList): NameList {
        const file = this.#file(name, 'shared/data/reserved-domains.txt');
        if (file === undefined) return shipped;
        const { path, text } = file;
        const read = readNames(text);
        if (read.ok) return joinNames(shipped, read.list);
        this.fault(name, `line ${read.line} of ${path} ${read.problem}`, 'shared/data/reserved-domains.txt');
        return shipped;
    }
}
