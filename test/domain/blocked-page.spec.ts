import { expect } from 'chai';
import { recogniseChallenge } from '../../shared/domain/fetch/blocked-page.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';
import { CHALLENGES, NO_CHALLENGES } from './bot-challenges.ts';

describe('bot challenges and captchas', () => {
    it('are tested with at least 30 blocked pages and 30 normal responses', () => {
        expect(CHALLENGES.length).to.be.at.least(30);
        expect(NO_CHALLENGES.length).to.be.at.least(30);
    });

    for (const { what, fate, vendor, headers = {}, body = '' } of CHALLENGES) {
        it(`recognises ${what}`, () => expect(recogniseChallenge({ headers, body }, fate)).to.equal(vendor));
    }

    for (const { what, fate, headers = {}, body = '' } of NO_CHALLENGES) {
        it(`accepts ${what}`, () => expect(recogniseChallenge({ headers, body }, fate)).to.equal(undefined));
    }

    it('are recognised in linear time, in any page', () => {
        for (const piece of ['<script', '<!--', '<', '<form ', "You don't have permission to access", '<title> Access Denied </title>']) {
            const body = `<${piece.repeat(128_000 / piece.length)}`;
            expect(
                cpuMsOf(() => recogniseChallenge({ headers: {}, body }, 'unreadable')),
                piece,
            ).to.be.below(roomFor(300));
        }
    });
});
