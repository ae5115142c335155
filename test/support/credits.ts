import type { Person } from './people.ts';
import { dataOf } from './routes.ts';

interface Account {
    credits: { balance: number };
    limits: { window: string; remaining: number }[];
}

const accountOf = async (person: Person) => dataOf<Account>(await person.call('GET', '/v1/account'));

/** The credits that a person may spend. */
export async function balanceOf(person: Person): Promise<number> {
    return (await accountOf(person)).credits.balance;
}

/** A person's credits, and how many calls of the day are left. */
export async function leftFor(person: Person): Promise<{ balance: number; remaining: number }> {
    const { credits, limits } = await accountOf(person);
    return { balance: credits.balance, remaining: limits.find(({ window }) => window === 'day')?.remaining ?? 0 };
}
