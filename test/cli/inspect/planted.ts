/** Values that the visits type and send, and that no draft, report or message may repeat. */
export const CREDENTIALS = {
    authorization: 'Bearer plantedAbc123Def456Ghi789Jkl012Mno345Pqr',
    password: 'Wellenbrecher-4411',
    token: 'q8Zr2LmX7vTn4KbW9sYd6HpJ3fGc5RtA1eUoQiPl0Nx',
};

export const PERSON = { name: 'Wilhelmina Oosterhuis', mail: 'wilhelmina.oosterhuis@postbus.test', phone: '+31 20 555 01 34' };
