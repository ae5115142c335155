import { expect } from 'chai';
import Joi from 'joi';
import { findNamesWithBadUtf8, prepare, problemsOf } from '../../api/plugins/input.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';

describe('a list with thousands of wrong values', () => {
    it('is refused in time linear in their number, with one problem each', () => {
        const values = Array.from({ length: 5000 }, () => 1);
        const list = prepare(Joi.array().items(Joi.string().valid('job.*')), { convert: false });
        const { error } = list.validate(values);
        const before = process.threadCpuUsage();
        const problems = problemsOf(error?.details ?? []);
        const { user, system } = process.threadCpuUsage(before);
        expect(problems).to.have.length(values.length);
        expect(problems[4999]).to.include({ path: '/4999', code: 'INVALID_VALUE' });
        expect((user + system) / 1000).to.be.below(roomFor(50));
    });
});

describe('a query with thousands of names that are not UTF-8', () => {
    it('is searched about as fast as one whose names are', () => {
        const queryOf = (name: string) => `/v1/schemas?${Array.from({ length: 2500 }, (_, at) => `${name}${at}`).join('&')}`;
        const search = (name: string) => {
            const query = queryOf(name);
            return cpuMsOf(() => Array.from({ length: 5 }, () => findNamesWithBadUtf8(query)));
        };
        const [right, wrong] = ['%41', '%ff'].map((name) => Math.min(search(name), search(name), search(name)));
        expect(wrong).to.be.below(4 * (right ?? 0));
        // As many as an error lists.
        expect(findNamesWithBadUtf8(queryOf('%ff'))).to.have.property('size', 100);
    });
});
