import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** Where a command speaks and listens. Results go to stdout; everything that is said beside them goes to stderr. */
export interface Terminal {
    print(line: string): void;
    complain(line: string): void;
    /** For stdout, and for stderr: each may be a pipe while the other is a terminal. */
    paint: Paint;
    paintError: Paint;
    isColourful: { out: boolean; error: boolean };
    columns: number;
    /** Where tables are cut; what goes into a pipe or a file is whole. */
    tableWidth: number;
    /** Whether somebody can be asked. */
    isInteractive: boolean;
    /** What is piped in. */
    readAll(): Promise<string>;
    /** Shows that something goes on, on a terminal alone; nothing where it is over at once. */
    progress(text: string): Progress;
}

export interface Progress {
    update(text: string): void;
    end(): void;
}

/** The terminal of this process. */
export function openTerminal({ mayColour }: { mayColour: boolean }): Terminal {
    const { stdin, stdout, stderr } = process;
    const isColourful = { out: mayColour && stdout.isTTY === true, error: mayColour && stderr.isTTY === true };
    return {
        print: (line) => void stdout.write(`${line}\n`),
        complain: (line) => void stderr.write(`${line}\n`),
        paint: painting(isColourful.out),
        paintError: painting(isColourful.error),
        isColourful,
        columns: stdout.columns ?? 80,
        tableWidth: stdout.isTTY === true ? stdout.columns : Number.POSITIVE_INFINITY,
        isInteractive: stdin.isTTY === true && stderr.isTTY === true,
        async readAll() {
            const chunks: Buffer[] = [];
            for await (const chunk of stdin) chunks.push(chunk as Buffer);
            return Buffer.concat(chunks).toString('utf8');
        },
        progress: (text) => (stderr.isTTY === true ? spin(text, (part) => stderr.write(part)) : SILENT),
    };
}

const SILENT: Progress = { update() {}, end() {} };

function painting(isOn: boolean): Paint {
    return (style, text) => (isOn ? styleText(style, text, { validateStream: false }) : text);
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FIRST_FRAME_MS = 300;
const FRAME_MS = 80;
const CLEAR_LINE = '\r\u001b[2K';

function spin(first: string, write: (part: string) => void): Progress {
    let text = first;
    let frame = 0;
    let isShown = false;
    const draw = () => {
        isShown = true;
        write(`${CLEAR_LINE}${FRAMES[frame++ % FRAMES.length]} ${text}`);
    };
    let timer = setTimeout(() => {
        draw();
        timer = setInterval(draw, FRAME_MS);
    }, FIRST_FRAME_MS);
    return {
        update(next) {
            text = next;
        },
        end() {
            clearInterval(timer);
            if (isShown) write(CLEAR_LINE);
        },
    };
}
