import { checkBuiltUrls } from '../domain/built-urls.ts';

describe('the URL of a request', () => {
    it('keeps scheme, user info, host, port and the number of path segments of its template for a million random params (E5)', () => {
        checkBuiltUrls(1_000_000);
    }).timeout(0);
});
