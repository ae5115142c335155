import { expect } from 'chai';
import { readForm } from '../../api/bodies/form.ts';
import { parseFields } from '../../api/dashboard/fields.ts';
import { roomFor } from '../support/eventually.ts';

const MAX_FORM = 12 * 1024 * 1024;

describe('the fields of a form', () => {
    const read = (text: string) => Object.fromEntries(parseFields(Buffer.from(text)));

    it('are what browsers send', () => {
        const sent = { name: 'Zoë & co', text: 'a+b = c\r\n%41 "quoted"', empty: '', __proto: 'x', 中: '中文 🙂' };
        expect(read(new URLSearchParams(sent).toString())).to.deep.equal(sent);
        expect(read('')).to.deep.equal({});
        expect(read('a=%zz&b=%ff&c')).to.deep.equal({ a: '%zz', b: '\ufffd', c: '' });
    });

    it('occur once each, and at most 200 of them', () => {
        const many = (count: number) => Array.from({ length: count }, (_, at) => `f${at}=1`).join('&');
        expect(Object.keys(read(many(200))).length).to.equal(200);
        expect(() => read(many(251))).to.throw('too many fields');
        expect(() => read('a=1&b=2&a=3')).to.throw('the same field twice');
    });

    it('are parsed in linear time, whatever is sent', () => {
        for (const unit of ['+', 'a+', '%2B', '%e4%b8%ad', '%', '&', 'a&', '=']) {
            const body = Buffer.from(`package=${unit.repeat(Math.floor((MAX_FORM - 8) / unit.length))}`);
            const began = process.threadCpuUsage();
            readForm(body);
            const { user } = process.threadCpuUsage(began);
            expect(user / 1000, unit).to.be.below(roomFor(1500));
        }
    });
});
