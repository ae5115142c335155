import { parseArgs } from 'node:util';
import type { Round } from './scenarios/scenario.ts';
import type { PostgresKind } from './stack/servers.ts';

const HELP = `npm run bench -- [options]

Starts each part in a process of its own, measures, and writes bench/results.json and bench/RESULTS.md. A missed goal is marked; it is no
error, since machines differ.

  --rounds NAME,NAME   measure these rounds again and keep the results of the others
  --only NAME,NAME     run these scenarios alone; nothing is written
  --quick              one short repetition of each scenario; nothing is written
  --at-once            do not wait until the machine is quiet
  --tenth              make the past data of round growth ten times smaller
  --postgres KIND      embedded, debian or the URL of a database; nothing is written (round stock starts its own servers)
  --sql                print the statements of each fetch scenario from pg_stat_statements; nothing is written
  --help               print this text`;

/** The options of `npm run bench`. */
interface BenchOptions {
    isQuick: boolean;
    isAtOnce: boolean;
    printsSql: boolean;
    /** Undefined: all. */
    rounds: ReadonlySet<string> | undefined;
    /** Scenarios; undefined: all. */
    only: ReadonlySet<string> | undefined;
    postgres: PostgresKind | undefined;
}

/** Reads the command line; ends the process with a message if an option or value is wrong. */
export function readOptions(all: readonly Round[]): BenchOptions | 'help' {
    try {
        return parseOptions(process.argv.slice(2), all);
    } catch (error) {
        process.stderr.write(`${(error as Error).message}\n`);
        process.exit(2);
    }
}

function parseOptions(args: string[], all: readonly Round[]): BenchOptions | 'help' {
    const flag = { type: 'boolean', default: false } as const;
    const { values } = parseArgs({
        args,
        options: {
            quick: flag,
            'at-once': flag,
            tenth: flag,
            sql: flag,
            help: flag,
            only: { type: 'string' },
            rounds: { type: 'string' },
            postgres: { type: 'string' },
        },
    });
    if (values.help) return 'help';
    const scenarios = all.flatMap((round) => round.scenarios.map(({ name }) => name));
    return {
        isQuick: values.quick,
        isAtOnce: values['at-once'],
        printsSql: values.sql,
        rounds: readNames(
            '--rounds',
            values.rounds,
            all.map(({ name }) => name),
        ),
        only: readNames('--only', values.only, scenarios),
        postgres: readPostgres(values.postgres),
    };
}

/** Prints how the command is used, with the names of rounds and their scenarios. */
export function printHelp(all: readonly Round[]): void {
    const rounds = Map.groupBy(all, ({ name }) => name);
    const lines = [...rounds].map(([name, parts]) => {
        const scenarios = parts.flatMap((part) => part.scenarios.map((scenario) => scenario.name));
        return `  ${name}: ${scenarios.slice(0, 12).join(', ')}${scenarios.length > 12 ? `, … (${scenarios.length})` : ''}`;
    });
    process.stdout.write(`${HELP}\n\nRounds and their scenarios:\n${lines.join('\n')}\n`);
}

function readNames(option: string, value: string | undefined, known: readonly string[]): ReadonlySet<string> | undefined {
    if (value === undefined) return undefined;
    const names = new Set(value.split(','));
    const unknown = [...names].filter((name) => !known.includes(name));
    if (unknown.length > 0) throw new Error(`${option}: unknown ${unknown.join(', ')}; known are ${[...new Set(known)].join(', ')}`);
    return names;
}

function readPostgres(value: string | undefined): PostgresKind | undefined {
    if (value === undefined || value === 'embedded' || value === 'debian') return value;
    if (/^postgres(ql)?:\/\//.test(value)) return value as PostgresKind;
    throw new Error('--postgres takes embedded, debian or the URL of a database');
}
