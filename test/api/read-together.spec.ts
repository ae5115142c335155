import { expect } from 'chai';
import { readTogether } from '../../api/answers/read-together.ts';
import type { App } from '../../shared/app.ts';

describe('a crowd that reads the same list', () => {
    it('shares one read, which begins after all of them asked, so nobody misses what was published before', async () => {
        const app = {} as App;
        const published = ['one.test'];
        const first = Promise.withResolvers<void>();
        let reads = 0;
        const read = async () => {
            reads++;
            const found = [...published];
            if (reads === 1) await first.promise;
            return found;
        };
        const early = readTogether(app, 'sites', read);
        const other = await readTogether(app, 'something else', async () => 'is not delayed');
        expect(other).to.equal('is not delayed');
        published.push('two.test');
        const late = Array.from({ length: 20 }, () => readTogether(app, 'sites', read));
        first.resolve();
        expect(await early).to.deep.equal(['one.test']);
        for (const found of await Promise.all(late)) expect(found).to.deep.equal(['one.test', 'two.test']);
        expect(reads).to.equal(2);
    });

    it('fails with the read that it waits for, and the next one reads again', async () => {
        const app = {} as App;
        const broken = Promise.withResolvers<string>();
        const failing = readTogether(app, 'sites', () => broken.promise);
        await new Promise((done) => setImmediate(done));
        const waiting = readTogether(app, 'sites', async () => 'too early');
        broken.reject(new Error('no database'));
        expect(await failing.catch((error: Error) => error.message)).to.equal('no database');
        expect(await waiting.catch((error: Error) => error.message)).to.equal('no database');
        expect(await readTogether(app, 'sites', async () => 'read again')).to.equal('read again');
    });
});
