import type { DestinationStream } from 'pino';

/** Turns the JSON lines of a log into lines for a person: the message, then a line per fact. */
export function terminalLog(out: { write(text: string): unknown }): DestinationStream {
    return { write: (line) => void out.write(`\n${readable(JSON.parse(line))}\n`) };
}

function readable({ level, message, time: _, part: __, ...facts }: Record<string, unknown>): string {
    // The text of a mail repeats its link between many words.
    if (facts['mail_link'] !== undefined) delete facts['mail_text'];
    const lines = Object.entries(facts).map(
        ([name, value]) => `  ${name === 'err' ? 'error' : name.replaceAll('_', ' ')}: ${textOf(value)}`,
    );
    return [`${level === 'warn' ? 'warning' : level}: ${message}`, ...lines].join('\n');
}

function textOf(value: unknown): string {
    if (typeof value !== 'object' || value === null) return String(value);
    return 'message' in value ? String(value.message) : JSON.stringify(value);
}
