import { expect } from 'chai';
import { recogniseChallenge } from '../../shared/domain/fetch/blocked-page.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';
import { NO_WALLS, WALLS } from './walls.ts';

describe('bot challenges and captchas', () => {
    it('are tested with at least 30 blocked pages and 30 normal responses', () => {
        expect(WALLS.length).to.be.at.least(30);
        expect(NO_WALLS.length).to.be.at.least(30);
    });

    for (const { what, fate, wall, headers = {}, body = '' } of WALLS) {
        it(`recognises ${what}`, () => expect(recogniseChallenge({ headers, body }, fate)).to.equal(wall));
    }

    for (const { what, fate, headers = {}, body = '' } of NO_WALLS) {
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
