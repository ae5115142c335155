import { type Call, modelled, pageWith } from '../modelled.ts';

/**
 * A model of a site of videos that works like YouTube: each request of its program is a POST with a context of the client, continuations are
 * opaque tokens, pages hold their data in a script, and players report what is watched. From the data API's documents (names and fields of
 * channels, videos, playlists, comments) and what the public clients of the site write down of its program.
 */
const VIDEOS = ['dQw4w9WgXcQ', 'aB3_xY9-kLm', 'Zz81hTq0PwE', 'm7Kd-2nVbQs'];
const NAMES = ['How to splice a rope', 'Fog signals explained', 'A night on the lighthouse', 'Harbour tour'];
const CHANNELS = ['UCa1b2c3d4e5f6g7h8i9j0kL', 'UCz9y8x7w6v5u4t3s2r1q0pO'];
const LISTS = ['PLx0sYbCqOb8TBPRdmBHs5Iftvv9TPboYG', 'PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf'];
const TOKEN = (place: number) => `4qmFsgKrCRIYVUN${'xY7zQ2wE9rT4'.repeat(6)}${place}3D`;
const context = {
    client: {
        hl: 'en',
        gl: 'GB',
        visitorData: 'CgtRd1lKb0F0aG5TayiAgICABg%3D%3D',
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
        clientName: 'WEB',
        clientVersion: '2.20261120.01.00',
        timeZone: 'Europe/London',
        utcOffsetMinutes: 0,
    },
    user: { lockedSafetyMode: false },
    request: { useSsl: true, internalExperimentFlags: [], consistencyTokenJars: [] },
};
const call = (name: string, sent: object, answer: object): Call => ({
    ask: `POST /youtubei/v1/${name}?prettyPrint=false`,
    sent: { context, ...sent },
    headers: {
        'x-youtube-client-name': '1',
        'x-youtube-client-version': '2.20261120.01.00',
        'x-goog-visitor-id': 'CgtRd1lKb0F0aG5TayiAgICABg%3D%3D',
    },
    answer: { responseContext: { visitorData: 'CgtRd1lKb0F0aG5TayiAgICABg%3D%3D', serviceTrackingParams: [] }, ...answer },
});
const renderer = (place: number) => ({
    videoRenderer: {
        videoId: VIDEOS[place],
        title: { runs: [{ text: NAMES[place] }] },
        lengthText: { simpleText: `${place + 3}:12` },
        viewCountText: { simpleText: `${1200 * (place + 1)} views` },
    },
});
const contents = (places: number[]) => ({
    contents: {
        twoColumnBrowseResultsRenderer: {
            tabs: [{ tabRenderer: { title: 'Home', content: { richGridRenderer: { contents: places.map(renderer) } } } }],
        },
    },
    trackingParams: 'CAAQhGciEwjA',
});
const more = (places: number[]) => ({
    onResponseReceivedActions: [{ appendContinuationItemsAction: { continuationItems: places.map(renderer) } }],
    trackingParams: 'CAAQhGciEwjB',
});
const shown = (title: string, data: object) =>
    pageWith(
        title,
        `<script>var ytcfg={d:function(){}};ytcfg.set({"INNERTUBE_API_VERSION":"v1","LOGGED_IN":false});</script><script>var ytInitialData = ${JSON.stringify(data)};</script><ytd-app></ytd-app><noscript>Turn on scripts</noscript>`,
        '<form action="/results" method="get"><input name="search_query" placeholder="Search"><button>Search</button></form>',
    );
const report = (path: string): Call => ({ ask: `GET ${path}`, answer: '', status: 204 });
const watched = (place: number, at: number): Call =>
    report(
        `/api/stats/watchtime?ns=yt&el=detailpage&cpn=Qm3v9Zk2Xa8LpTt${place}&ver=2&cmt=${at}.3&fmt=399&fs=0&rt=${at}.9&docid=${VIDEOS[place]}&len=192&st=0&et=${at}`,
    );
const logged = (place: number): Call => ({
    ask: 'POST /youtubei/v1/log_event?alt=json',
    sent: {
        context,
        events: [{ eventTimeMs: `176700000${place}000`, visualElementShown: { csn: `MC4${place}`, ve: { veType: 3854 + place } } }],
        requestTimeMs: `176700000${place}500`,
    },
    answer: { responseContext: {} },
});

const calls: Call[] = [
    { ask: 'GET /', answer: shown('Videos of the harbour', contents([0, 1])) },
    report('/generate_204'),
    call(
        'guide',
        {},
        {
            items: [
                {
                    guideSectionRenderer: {
                        items: [{ guideEntryRenderer: { title: 'Home' } }, { guideEntryRenderer: { title: 'Shorts' } }],
                    },
                },
            ],
        },
    ),
    call('browse', { browseId: 'FEwhat_to_watch' }, contents([0, 1])),
    logged(1),
    call('browse', { continuation: TOKEN(1) }, more([2, 3])),
    call('browse', { continuation: TOKEN(2) }, more([1, 0])),
    ...['rope', 'fog signal'].map(
        (words): Call => ({
            ask: `GET /complete/search?client=youtube&hl=en&gl=gb&ds=yt&q=${encodeURIComponent(words)}`,
            answer: [
                words,
                [
                    [`${words} splice`, 0],
                    [`${words} knot`, 0],
                ],
            ],
        }),
    ),
    { ask: 'GET /results?search_query=rope', answer: shown('rope', contents([0, 3])) },
    call('search', { query: 'rope' }, { estimatedResults: '2', ...contents([0, 3]) }),
    call('search', { query: 'fog signal', params: 'EgIIAg%3D%3D' }, { estimatedResults: '1', ...contents([1]) }),
    call('search', { continuation: TOKEN(3) }, more([2])),
    ...[0, 1, 2].flatMap((place): Call[] => [
        { ask: `GET /watch?v=${VIDEOS[place]}`, answer: shown(NAMES[place] ?? '', { currentVideo: renderer(place) }) },
        call(
            'player',
            {
                videoId: VIDEOS[place],
                playbackContext: { contentPlaybackContext: { signatureTimestamp: 20410, html5Preference: 'HTML5_PREF_WANTS' } },
                racyCheckOk: false,
                contentCheckOk: false,
            },
            {
                playabilityStatus: { status: 'OK' },
                videoDetails: {
                    videoId: VIDEOS[place],
                    title: NAMES[place],
                    lengthSeconds: '192',
                    channelId: CHANNELS[place % 2],
                    shortDescription: 'Filmed on the pier',
                },
                streamingData: { expiresInSeconds: '21540' },
            },
        ),
        report(`/ptracking?cpn=Qm3v9Zk2Xa8LpTt${place}&ei=abc${place}&video_id=${VIDEOS[place]}`),
        report(`/api/stats/playback?ns=yt&el=detailpage&cpn=Qm3v9Zk2Xa8LpTt${place}&docid=${VIDEOS[place]}&len=192`),
        report(`/api/stats/qoe?event=streamingstats&cpn=Qm3v9Zk2Xa8LpTt${place}&docid=${VIDEOS[place]}&seq=1&vps=0.000:N`),
        call(
            'next',
            { videoId: VIDEOS[place], racyCheckOk: false, contentCheckOk: false },
            {
                contents: { twoColumnWatchNextResults: { secondaryResults: { results: [renderer(3)] } } },
                currentVideoEndpoint: { watchEndpoint: { videoId: VIDEOS[place] } },
            },
        ),
        watched(place, 10),
        watched(place, 30),
        logged(place + 2),
        call(
            'next',
            { continuation: TOKEN(4 + place) },
            {
                onResponseReceivedEndpoints: [
                    {
                        reloadContinuationItemsCommand: {
                            continuationItems: [
                                {
                                    commentThreadRenderer: {
                                        comment: {
                                            commentRenderer: { commentId: `Ugx${place}`, contentText: { runs: [{ text: 'Fine' }] } },
                                        },
                                    },
                                },
                            ],
                        },
                    },
                ],
            },
        ),
        call(
            'updated_metadata',
            { videoId: VIDEOS[place] },
            {
                continuation: { timedContinuationData: { timeoutMs: 60000, continuation: TOKEN(9) } },
                actions: [{ updateViewershipAction: { viewCount: { simpleText: '1201 views' } } }],
            },
        ),
    ]),
    call(
        'get_transcript',
        { params: 'CgtkUXc0dzlXZ1hjURISQ2dOaGMzSVNBbVZ1R2dBJTNE' },
        {
            actions: [
                { updateEngagementPanelAction: { content: { transcriptRenderer: { cues: [{ start: '0', text: 'Take the rope' }] } } } },
            ],
        },
    ),
    call(
        'get_transcript',
        { params: 'CgthQjNfeFk5LWtMbRISQ2dOaGMzSVNBbVZ1R2dBJTNE' },
        {
            actions: [
                { updateEngagementPanelAction: { content: { transcriptRenderer: { cues: [{ start: '0', text: 'Hear the horn' }] } } } },
            ],
        },
    ),
    { ask: `GET /watch?v=${VIDEOS[3]}&list=${LISTS[0]}&index=2`, answer: shown(NAMES[3] ?? '', { currentVideo: renderer(3) }) },
    call(
        'next',
        { videoId: VIDEOS[3], playlistId: LISTS[0], params: 'OALAAQE%3D', racyCheckOk: false, contentCheckOk: false },
        {
            contents: { twoColumnWatchNextResults: { playlist: { playlist: { playlistId: LISTS[0], title: 'Ropes' } } } },
            currentVideoEndpoint: { watchEndpoint: { videoId: VIDEOS[3] } },
        },
    ),
    ...LISTS.map((list): Call => ({ ask: `GET /playlist?list=${list}`, answer: shown('A list of videos', contents([0, 2])) })),
    ...LISTS.map((list) => call('browse', { browseId: `VL${list}` }, contents([0, 2]))),
    ...['@harbourmaster', '@fogandrope'].flatMap((name): Call[] =>
        ['', '/videos', '/playlists'].map(
            (tab): Call => ({ ask: `GET /${name}${tab}`, answer: shown(`${name} ${tab}`, contents([0, 1])) }),
        ),
    ),
    ...CHANNELS.map((channel): Call => ({ ask: `GET /channel/${channel}`, answer: shown('A channel', contents([2])) })),
    ...CHANNELS.map((channel) => call('browse', { browseId: channel, params: 'EgZ2aWRlb3PyBgQKAjoA' }, contents([0, 1]))),
    ...VIDEOS.slice(0, 2).map((id): Call => ({ ask: `GET /shorts/${id}`, answer: shown('A short', contents([0])) })),
    ...VIDEOS.slice(0, 2).map((id) =>
        call(
            'reel/reel_item_watch',
            { playerRequest: { videoId: id }, params: 'CA8%3D', disablePlayerResponse: true },
            { overlay: { reelPlayerOverlayRenderer: { likeButton: {} } }, status: 'REEL_ITEM_WATCH_STATUS_SUCCEEDED' },
        ),
    ),
    ...VIDEOS.slice(0, 2).map(
        (id): Call => ({
            ask: `GET /oembed?url=https%3A%2F%2Fvideos.test%2Fwatch%3Fv%3D${id}&format=json`,
            answer: { title: 'A video', author_name: 'Harbour master', type: 'video', html: '<iframe></iframe>', width: 200, height: 113 },
        }),
    ),
    ...VIDEOS.slice(0, 2).map((id) =>
        call(
            'like/like',
            { target: { videoId: id } },
            { actions: [{ openPopupAction: { popup: { notificationActionRenderer: { responseText: 'Added to liked videos' } } } }] },
        ),
    ),
    ...CHANNELS.map((channel) =>
        call('subscription/subscribe', { channelIds: [channel], params: 'EgIIAhgA' }, { newNotificationButton: {}, actions: [] }),
    ),
    logged(8),
    report(`/api/stats/atr?ns=yt&cpn=Qm3v9Zk2Xa8LpTt0&docid=${VIDEOS[0]}`),
];

export const application = modelled('model-videos', 'videos.test', calls);
