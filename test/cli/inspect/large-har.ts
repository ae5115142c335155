import { entry, SHOP } from './har.ts';

/** The routes of a generated recording, whatever its size. */
export const LARGE_ROUTES = ['GET /api/boats/{boat_id}', 'GET /api/harbours', 'POST /api/boats', 'GET /timetable/{date}'];

/**
 * A HAR file of about `bytes` bytes, in pieces, like that of a long day: calls of a few routes, each with other ids and people, images in
 * base64, and scripts.
 */
export async function* largeHar(bytes: number): AsyncGenerator<Buffer> {
    yield Buffer.from('{"log":{"version":"1.2","creator":{"name":"large","version":"1"},"pages":[],"entries":[');
    const filler = 'Lorem ipsum dolor sit amet. '.repeat(1200);
    const image = {
        ...(entry({ url: `${SHOP}/photo.jpg`, type: 'image/jpeg' }) as object),
        response: { status: 200, headers: [], content: { mimeType: 'image/jpeg', encoding: 'base64', text: 'QUJD'.repeat(60_000) } },
    };
    let written = 0;
    for (let count = 0; written < bytes; count++) {
        const day = new Date(Date.UTC(2020, 0, 1 + (count % 2000))).toISOString().slice(0, 10);
        const calls = [
            entry({
                url: `${SHOP}/api/boats/${1000 + count}`,
                headers: { Cookie: `sid=secret${count}` },
                json: { id: 1000 + count, owner: { mail: `owner${count}@people.example` }, log: filler },
            }),
            entry({ url: `${SHOP}/api/harbours?page=${count}`, json: [{ id: count, name: `harbour \\"${count}\\" {[` }] }),
            entry({
                method: 'POST',
                url: `${SHOP}/api/boats`,
                body: { name: `boat ${count}`, owner: `owner${count}@people.example` },
                status: 201,
                json: { id: count },
            }),
            entry({ url: `${SHOP}/timetable/${day}`, json: { stops: [{ at: '10:00' }] } }),
            image,
        ];
        const text = `${count === 0 ? '' : ','}${calls.map((call) => JSON.stringify(call)).join(',')}`;
        written += Buffer.byteLength(text);
        yield Buffer.from(text);
    }
    yield Buffer.from(']}}');
}
