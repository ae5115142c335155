import { stripVTControlCharacters, styleText } from 'node:util';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** The input and output of a command. Results go to stdout, everything else to stderr. */
export interface Terminal {
    print(line: string): void;
    printError(line: string): void;
    /** Colours for stdout and for stderr; either may be a pipe. */
    paint: Paint;
    paintError: Paint;
    isColourful: { out: boolean; error: boolean };
    columns: number;
    /** The width of tables; unlimited for pipes and files. */
    tableWidth: number;
    /** Whether questions can be asked. */
    isInteractive: boolean;
    /** Reads stdin to its end. */
    readAll(): Promise<Buffer>;
    /** Shows progress, only on a terminal and not for very short work. */
    progress(text: string): Progress;
}

interface Progress {
    update(text: string): void;
    end(): void;
}

/** Only the streams of a process can be a TTY. */
interface Streams {
    stdin: AsyncIterable<unknown> & { isTTY?: boolean };
    stdout: Output;
    stderr: Output;
}

interface Output {
    write(text: string): unknown;
    isTTY?: boolean;
    columns?: number;
}

/** The terminal of this process, unless other streams are given. */
export function createTerminal({ mayColour }: { mayColour: boolean }, { stdin, stdout, stderr }: Streams = process): Terminal {
    const isColourful = { out: mayColour && stdout.isTTY === true, error: mayColour && stderr.isTTY === true };
    // Lines are broken only on a terminal.
    const lineWidth = widthOf(stderr);
    let shown: ReturnType<typeof spin> | undefined;
    return {
        print(line) {
            shown?.clear();
            // Programs and files get results unchanged.
            stdout.write(`${stdout.isTTY === true ? readable(line) : line}\n`);
        },
        printError(line) {
            shown?.clear();
            stderr.write(`${fold(readable(line), lineWidth)}\n`);
        },
        paint: painting(isColourful.out),
        paintError: painting(isColourful.error),
        isColourful,
        columns: stdout.columns || 80,
        tableWidth: widthOf(stdout),
        isInteractive: stdin.isTTY === true && stderr.isTTY === true,
        async readAll() {
            const chunks: Buffer[] = [];
            for await (const chunk of stdin) chunks.push(chunk as Buffer);
            return Buffer.concat(chunks);
        },
        progress(text) {
            if (stderr.isTTY !== true) return SILENT;
            shown = spin(text, (part) => stderr.write(part));
            return shown;
        },
    };
}

/** The width of a terminal, unlimited for pipes and files. A terminal that does not know its width reports 0. */
function widthOf({ isTTY, columns }: Output): number {
    return isTTY === true && columns ? columns : Number.POSITIVE_INFINITY;
}

/** The colours of `painting`, or a character that controls the terminal, other than tab and newline, or reorders the words around it. */
const COLOUR_OR_CONTROL = /\u001b\[(?:[12]|22|3[12369])m|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes control characters, except our colours: texts of servers and sites could move the cursor or turn a name around. */
function readable(text: string): string {
    return text.replace(COLOUR_OR_CONTROL, (found) =>
        found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}

/** Breaks lines between words. The parts of a broken line are indented like the line, plus `hang`. */
export function fold(text: string, columns: number, hang = '  '): string {
    return text
        .split('\n')
        .map((line) => foldLine(line, columns, hang))
        .join('\n');
}

function foldLine(line: string, columns: number, hang: string): string {
    const indent = /^ */.exec(line)?.[0] ?? '';
    const start = `\n${indent}${hang}`;
    let width = 0;
    return line
        .split(' ')
        .map((word, index) => {
            const length = stripVTControlCharacters(word).length;
            const isBroken = width > indent.length && width + 1 + length > columns;
            width = isBroken ? start.length - 1 + length : width + (index === 0 ? 0 : 1) + length;
            return isBroken ? start + word : index === 0 ? word : ` ${word}`;
        })
        .join('');
}

const SILENT: Progress = { update() {}, end() {} };

function painting(isOn: boolean): Paint {
    return (style, text) => (isOn ? styleText(style, text, { validateStream: false }) : text);
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FIRST_FRAME_MS = 300;
const FRAME_MS = 80;
const CLEAR_LINE = '\r\u001b[2K';

/** `clear` makes room for a line; the next frame is drawn below it. */
function spin(first: string, write: (part: string) => void): Progress & { clear(): void } {
    let text = first;
    let frame = 0;
    let isShown = false;
    const draw = () => {
        isShown = true;
        write(`${CLEAR_LINE}${FRAMES[frame++ % FRAMES.length]} ${readable(text)}`);
    };
    const clear = () => {
        if (isShown) write(CLEAR_LINE);
        isShown = false;
    };
    let timer = setTimeout(() => {
        draw();
        timer = setInterval(draw, FRAME_MS);
    }, FIRST_FRAME_MS);
    return {
        update(next) {
            text = next;
        },
        clear,
        end() {
            clearInterval(timer);
            clear();
        },
    };
}
