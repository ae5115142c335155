import { expect } from 'chai';
import Joi from 'joi';
import { prepare, problemsOf } from '../../api/plugins/input.ts';
import { roomFor } from '../support/eventually.ts';

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
