/** Waits for an answer for at most `ms`, then gives the result of `late`. Work that takes longer continues. */
export async function within<Answer>(ms: number, answer: Promise<Answer>, late: () => Answer): Promise<Answer> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
    }).then(late);
    try {
        return await Promise.race([answer, over]);
    } finally {
        clearTimeout(timer);
    }
}
