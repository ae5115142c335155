const FETCH = 'test/api/fetch.spec.ts';
const WALKS = 'test/api/fetch-pages.spec.ts';
const PAGED = 'test/workers/pages.spec.ts';
const CREDITS = 'test/store/credits.spec.ts';
const OWED = 'test/store/owed-bonuses.spec.ts';
const EARNED = 'test/store/first-fetch.spec.ts';
const PRICES = 'test/domain/pricing.spec.ts';
const SITES = 'test/hostile/upstreams.spec.ts';
const CALLS = 'test/workers/upstream.spec.ts';
const PLANS = 'test/billing/plans.spec.ts';
const ENDED_PLANS = 'test/billing/ended-plans.spec.ts';
const EVENTS = 'test/billing/webhook.spec.ts';
const PAGES = 'test/dashboard/billing.spec.ts';
const DATES = 'test/billing/dates.spec.ts';
const SLICES = 'test/store/slice-holds.spec.ts';
const STATEMENT = 'test/dashboard/usage.spec.ts';
const CAPS = 'test/store/spending.spec.ts';
const NOTICES = 'test/billing/notices.spec.ts';

/** A file, and parts of the titles of its tests. */
export type Proof = readonly [file: string, ...titles: string[]];

/** The beginning of each sentence of docs/billing.md, and the tests that prove it. */
export const PROOFS: Readonly<Record<string, readonly Proof[]>> = {
    // What is billed, and when.
    'One rule: ': [
        [FETCH, 'returns the result and charges exactly one credit for one request'],
        [FETCH, 'is free if the site refuses, fails, responds with something else or hangs'],
        [CREDITS, 'never takes more than is held'],
        [PRICES, 'never exceeds the hold when the worker keeps its limits'],
    ],
    'A success is a final 2xx answer': [
        [SITES, 'misbehaves in any of these ways moves no credit that was not reported, and leaves none on hold'],
        ['test/workers/select.spec.ts', 'names the place that does not fit the schema', 'names the expression that does not match'],
    ],
    'Anything else is free': [
        [FETCH, 'is free if the site refuses, fails, responds with something else or hangs'],
        [SITES, 'misbehaves in any of these ways moves no credit that was not reported, and leaves none on hold'],
    ],
    'A fetch first **holds**': [
        [CREDITS, 'holds as many units as are wanted'],
        [PRICES, 'is a unit for each page, and pages are free if results are billed'],
    ],
    'When it ends, the exact cost': [
        [CREDITS, 'takes the exact cost and returns the rest'],
        [SITES, 'misbehaves in any of these ways moves no credit that was not reported, and leaves none on hold'],
    ],
    'A call that fails releases all': [
        [SITES, 'misbehaves in any of these ways moves no credit that was not reported, and leaves none on hold'],
    ],
    'The hold of a call that never ended': [[CREDITS, 'releases holds whose time is over, and no others']],
    "A request costs the site's credits": [
        [FETCH, 'returns the result and charges exactly one credit for one request'],
        [WALKS, 'costs the operator’s price for each of its pages'],
        ['test/store/versions.spec.ts', 'take price, share and rate from the registrable domain'],
    ],
    'An endpoint that bills by the result': [[FETCH, 'bills by the result if the schema says so, and nothing for no results']],
    'An endpoint of kind `paginate`': [
        [WALKS, 'is billed by the pages that had results, and joins them', 'costs nothing without results'],
        [PAGED, 'skips a page without results if the site names a next one, and does not bill it'],
    ],
    'On any other kind, following pages': [
        [WALKS, 'is one request for any other kind, however many pages it takes'],
        [WALKS, 'is billed by the result if the schema says so, without a charge for pages'],
    ],
    'Pages are followed to the last one': [
        [PAGED, 'follows cursors until there is none'],
        [WALKS, 'ends at max_pages, at max_results and at max_credits, and says that there is more', 'ends when the balance is used up'],
    ],
    'If the site has more, `meta.truncated`': [[PAGED, 'is marked as truncated wherever something was cut off or left unread']],
    'With numbered pages only another request': [
        [PAGED, 'is also marked as truncated if it ends at a full page without a request for the next'],
    ],
    'A page that repeats the one before ends the walk': [
        ['test/workers/site-that-changes.spec.ts', 'delivers and bills each result once if a site repeats its last page'],
        ['test/workers/site-that-changes.spec.ts', 'ends if a site refuses a page beyond its last one'],
    ],
    'If one page fails, the whole call fails': [[WALKS, 'is free if one of its pages fails']],
    'Opening a page before a form': [['test/api/fetch-forms.spec.ts', 'fills in the page’s form and costs one request']],
    '`max_credits` of a call caps the hold': [
        [PRICES, 'stays within the caller’s cap, in complete units'],
        [FETCH, 'cuts results at max_results, at max_credits and at the balance, and says so'],
    ],
    'What exceeds them is cut off': [[FETCH, 'cuts results at max_results, at max_credits and at the balance, and says so']],
    '`meta.credits_used` is what': [[FETCH, 'returns the result and charges exactly one credit for one request']],
    'The monthly allowance is spent before': [[CREDITS, 'spends the allowance before the bonus']],
    'It is reset, not added to': [
        ['test/store/allowance.spec.ts', 'by the first hold of the new month', 'by the sweeper, once, if nobody reads it'],
    ],
    'The first charged fetch of a person': [[EARNED, 'are in its own response', 'are not earned by a failed fetch']],
    'A person whom you invited': [
        [EARNED, 'come with the charged fetch of the invited user on a second day, whatever the inviter did', 'are limited to 20 a month'],
        ['test/dashboard/invitations.spec.ts', 'earns 100 when an invited user calls on a second day, and says so'],
    ],
    'Where more than five sign up': [
        [
            'test/dashboard/invitations.spec.ts',
            'earns for five people of one IPv4 /24, and says so; each of them earns 50 with the first call',
            'earns for five people of one IPv6 /48',
            'earns for five people of one private mail domain, including its subdomains',
        ],
    ],
    'The first schema of a domain': [
        ['test/api/schemas.spec.ts', 'earns 50 credits once for each registrable domain, whoever publishes'],
        ['test/store/schemas.spec.ts', 'is paid at publishing for two domains'],
    ],
    'Where nothing of the package': [[OWED, 'is paid with the first charged call of another account if nothing can be verified']],
    'A bonus counts in the month': [
        [EARNED, 'are counted in the month in which they are paid'],
        [OWED, 'is counted in the month in which it is paid, and limited to ten'],
    ],
    'An operator who blocks a domain': [[OWED, 'is taken once, however many ask at the same time', 'is at most the remaining bonus']],
    'While a workspace is on Free': [
        ['test/api/account.spec.ts', 'shares credits and limits over all free workspaces of one person, and names the calling key'],
        ['test/store/accounts.spec.ts', 'changes its plan with its workspace, and the bonus belongs to the payer'],
    ],
    'Items of a batch that start together': [
        [SLICES, 'is one hold, charged in parts that name the batch and their number of items', 'sums to the charges of its items'],
        [STATEMENT, 'names the batch of a movement, and its number of items'],
    ],
    'Every movement is a row': [
        ['test/store/ledger.spec.ts', 'cannot be rewritten', 'matches the documented rules, whatever happens to three accounts'],
    ],
    '`npm run admin -- ledger check` proves it': [
        ['test/admin/accounts.spec.ts', 'names the accounts whose ledger does not sum, and fails'],
    ],
    // Plans, dates and payment.
    'Each sentence here is proved': [['test/docs/billing-sentences.spec.ts', 'has an existing test for each sentence']],
    'Free costs nothing': [['test/domain/plans.spec.ts', 'cost and allow what the price list says']],
    'Nothing is ever charged beyond': [
        ['test/api/fetch-limits.spec.ts', 'answers 402 with how to get credits when the balance is below one unit'],
        [PAGES, 'directly from the link of a 402, after signing in, for the workspace without credits'],
    ],
    'What opens that link ahead of its reader': [
        [
            PAGES,
            'by a button if a program prefetches the link or a page embeds it, which starts nothing',
            'once, however often the link is opened: the same one for this person and plan, another one otherwise',
        ],
    ],
    'A plan is paid at Stripe': [[EVENTS, 'by invoice.paid, with the plan and its limits']],
    'It holds from the moment': [
        [EVENTS, 'by no other event, whatever its content'],
        [PAGES, 'change the limits of an API key within a second'],
    ],
    'An allowance is granted once': [
        [EVENTS, 'however often it is delivered', 'in whatever order events come', 'by two APIs at once, each event to both'],
    ],
    'An upgrade begins a new billing period': [
        [PLANS, 'at once, with a new period in the middle of the month, the complete allowance and the owner’s bonus'],
        [PLANS, 'up at once: a new period begins, and the unused part of the old month is credited'],
    ],
    'Where there is a subscription already': [
        [PLANS, 'up at once: a new period begins, and the unused part of the old month is credited'],
        [PAGES, 'up, after saying what it costs today'],
    ],
    'If it cannot be paid': [
        [PLANS, 'not at all, if the card '],
        [PAGES, 'not if the bank declines, and show where to pay'],
    ],
    "The owner's bonus credits move": [
        [PLANS, 'at once, with a new period in the middle of the month, the complete allowance and the owner’s bonus'],
        [PLANS, 'to Free at the end of the paid month, and the bonus returns to the owner'],
    ],
    'The billing date is the day': [[DATES, 'is the same day of each month']],
    'From the 29th, 30th or 31st': [
        [DATES, 'from the 31st is a short month’s last day, and the 31st again after it'],
        [DATES, 'in February of a leap year is the 29th'],
    ],
    'Daylight saving moves nothing': [[DATES, 'keeps its hour when daylight saving time changes, whatever the time zone of the database']],
    'On Free the allowance begins again': [
        ['test/store/allowance.spec.ts', 'ends on the same day', 'by the sweeper, once, if nobody reads it'],
    ],
    'Under a subscription, what is left': [
        [PLANS, 'with the rest of the old allowance for three days past the billing date, until the invoice is paid'],
        [PLANS, 'without an allowance from the third day on, and held credits of the old one expire'],
    ],
    'A smaller plan, and Free, begin': [
        [PLANS, 'down at the end of the paid month'],
        [PLANS, 'to Free at the end of the paid month, and the bonus returns to the owner'],
    ],
    'Until then everything stays': [
        [PLANS, 'down and back again before the month ends, without effect', 'not to Free if that was cancelled'],
    ],
    'If the payment of a new month fails': [[ENDED_PLANS, 'remains for seven days, then Free, and nothing more is billed']],
    'A refund of the whole': [
        [ENDED_PLANS, 'ends at once, and nothing more is billed', 'of a past month remains after a refund, and ends after a dispute'],
    ],
    'A refund in part': [[ENDED_PLANS, 'in part remains', 'of a past month remains after a refund, and ends after a dispute']],
    'Of several checkouts': [
        [
            PLANS,
            'once, however many tabs begin a checkout: the last one can be paid',
            'and is not sold a second time: another tab learns that it was paid',
        ],
    ],
    'Deleting an account first': [
        [ENDED_PLANS, 'ends at Stripe first, and an open checkout can no longer be paid', 'remains, with the account, if Stripe is down'],
        [PAGES, 'end the subscription when the account is deleted', 'keep an account whose subscription cannot be ended'],
    ],
    'Where payment is not set up': [
        [PAGES, 'say how to ask the operator if payment is not configured, and show the plan that the operator sets'],
        ['test/store/allowance.spec.ts', 'begins a new period at once, and the owner’s bonus moves with it'],
    ],
    'Owners, and members with the role billing, buy': [
        [PAGES, 'an admin reads them and changes nothing', 'a member cannot read them', 'the role billing buys and changes plans'],
    ],
    'A cap is what an account': [[CAPS, 'of a key applies to this key only, and the account’s to all of them', 'resets at midnight, UTC']],
    'Credits that calls in flight hold': [
        [CAPS, 'counts what is held, and frees what was not charged', 'counts what was spent on the day before it was set'],
    ],
    'A call for which a cap leaves less': [
        [CAPS, 'lets calls spend up to it, and then names the cap, what is used and when it resets'],
        [
            'test/billing/spending.spec.ts',
            'refuses what exceeds it with SPENDING_LIMIT, which names the cap, what is used and when it resets',
        ],
    ],
    'Without credits, that is said first': [['test/billing/spending.spec.ts', 'is reported after missing credits: 402 comes first']],
    'When four fifths of an allowance': [
        [NOTICES, 'when four fifths are used, and when all of it is, each once a period: by mail and on the dashboard'],
        [NOTICES, 'of a workspace: its owners and the account that pays'],
    ],
    'When the last 50 calls': [
        [NOTICES, 'when a key’s last fifty calls of one endpoint failed, once', 'until a call succeeds; and again after fifty more'],
    ],
    'When a payment fails, and when': [[NOTICES, 'when it failed, once a billing date, and when the plan ended for that']],
    // What a site does, and what that costs.
    'Tests provoke every row below': [
        ['test/docs/billing-table.spec.ts', 'says of every behaviour of a site what the tests expect'],
        [SITES, 'misbehaves in any of these ways moves no credit that was not reported, and leaves none on hold'],
    ],
    'If a write gets another answer': [['test/docs/billing-table.spec.ts', 'says of every behaviour of a site what the tests expect']],
    '*At once*: as soon as the site has answered': [[SITES, 'misbehaves does so in more than forty ways, each listed once']],
    'A read is tried up to three times': [[CALLS, 'retries a read after ']],
    'Between tries it waits up to': [
        [
            CALLS,
            'pauses up to 0.1 and 0.4 s before these attempts',
            'waits as long as Retry-After says',
            'does not wait for a Retry-After beyond the deadline',
        ],
        [SITES, 'misbehaves in any of these ways moves no credit that was not reported, and leaves none on hold'],
    ],
    'A write is sent once': [[CALLS, 'sends a write once, whatever the response']],
    "*At the deadline*: when the call's": [[SITES, 'misbehaves does so in more than forty ways, each listed once']],
    'A connection that is not ready after 10 s': [
        ['test/workers/connector.spec.ts', 'is closed also if the site never answers the TLS handshake'],
        ['test/long/connections.spec.ts', 'fails after ten seconds, long before its deadline'],
    ],
    '*At the cap*: within 200 ms': [[SITES, 'misbehaves does so in more than forty ways, each listed once']],
    'The rest is not read': [[SITES, 'misbehaves does so in more than forty ways, each listed once']],
};
