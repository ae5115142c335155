/** Remembers the result of a read that succeeded, whatever later calls ask for. Repeats a failed read. */
export function once<Asked extends unknown[], T>(read: (...asked: Asked) => Promise<T>): (...asked: Asked) => Promise<T> {
    let answer: Promise<T> | undefined;
    return (...asked) => {
        answer ??= read(...asked).catch((error: unknown) => {
            answer = undefined;
            throw error;
        });
        return answer;
    };
}
