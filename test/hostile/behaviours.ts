import type { Behaviour, Group } from './behaviour.ts';
import { CONNECTIONS } from './connections.ts';
import { CONTENT, ODD } from './content.ts';
import { PROTOCOL } from './protocol.ts';
import { REDIRECTS } from './redirects.ts';
import { BREAKS, SILENCE } from './silence.ts';
import { SIZE } from './size.ts';
import { STATUS } from './status.ts';

/** All known misbehaviour of sites, with the result, bill and waiting time of the caller (goal E8). */
export const GROUPS: readonly Group[] = [
    { title: 'No connection', behaviours: CONNECTIONS },
    { title: 'No answer, or none in time', behaviours: SILENCE },
    { title: 'The connection breaks', behaviours: BREAKS },
    { title: 'No proper HTTP', behaviours: PROTOCOL },
    { title: 'Too much', behaviours: SIZE },
    { title: 'Not what it says', behaviours: CONTENT },
    { title: 'Another status', behaviours: STATUS },
    { title: 'Redirects', behaviours: REDIRECTS },
    { title: 'Odd, but whole', behaviours: ODD },
];

export const BEHAVIOURS: readonly Behaviour[] = GROUPS.flatMap(({ behaviours }) => behaviours);
