// Holds sessions, locks and elections for tests/clients/recipes.sh, with the package etcd3. holders.py has the
// questions and answers.
//
// usage: node holder.js HOST:PORT
'use strict';

const readline = require('readline');
const { Etcd3, EtcdLockFailedError, isRecoverableError } = require('etcd3');

const AGAIN_MS = 100; // after a lock that another holds, or an error
const STM_RETRIES = 1000000; // the package gives up after so many conflicts

if (process.argv.length !== 3) {
  console.error('usage: node holder.js HOST:PORT; tests/clients/recipes.sh calls it');
  process.exit(2);
}
const client = new Etcd3({ hosts: `http://${process.argv[2]}` });
const sessions = new Map(); // by name: {lease, ttl, ended}
const locks = new Map();
const campaigns = new Map();

// The server is away, or the package has not asked it again yet since it was.
const away = (error) => isRecoverableError(error) || error.isBrokenCircuitError === true;
const pause = () => new Promise((resolve) => setTimeout(resolve, AGAIN_MS));

// The lock has a lease of its own, and says at once if another holds it.
async function lock(name, prefix) {
  for (;;) {
    try {
      const held = client.lock(prefix).ttl(sessions.get(name).ttl);
      await held.acquire();
      locks.set(name + prefix, held);
      return prefix;
    } catch (error) {
      if (!(error instanceof EtcdLockFailedError || away(error))) throw error;
      await pause();
    }
  }
}

async function campaign(name, prefix, value) {
  const running = client.election(prefix, sessions.get(name).ttl).campaign(value);
  await running.wait();
  campaigns.set(name + prefix, running);
  return running.getCampaignKey();
}

async function increment(key, count) {
  let done = 0;
  let uncertain = 0;
  for (let i = 0; i < count; ++i) {
    try {
      await client.stm({ retries: STM_RETRIES }).transact(async (tx) => {
        const number = Number((await tx.get(key)) || 0);
        await tx.put(key).value(String(number + 1));
      });
      ++done;
    } catch (error) {
      if (!away(error)) throw error;
      ++uncertain;
    }
  }
  return `${done} ${uncertain}`;
}

const verbs = {
  async session(name, ttl) {
    const lease = client.lease(Number(ttl));
    const session = { lease, ttl: Number(ttl), ended: false };
    lease.on('lost', () => { session.ended = true; });
    sessions.set(name, session);
    return lease.grant();
  },
  async put(name, key, value) {
    await sessions.get(name).lease.put(key).value(value);
    return '';
  },
  async ended(name) { return sessions.get(name).ended ? 'yes' : 'no'; },
  lock,
  async unlock(name, prefix) {
    await locks.get(name + prefix).release();
    return '';
  },
  campaign,
  async resign(name, prefix) {
    await campaigns.get(name + prefix).resign();
    return '';
  },
  increment,
  async close(name) {
    await sessions.get(name).lease.revoke();
    return '';
  },
};

const lines = readline.createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const [number, verb, ...words] = line.split(' ');
  let answer = 'SKIPPED';
  try {
    if (verb in verbs) answer = `OK ${await verbs[verb](...words)}`;
  } catch (error) {
    answer = `ERROR ${error.name}: ${error.message}`.replace(/\n/g, ' ');
  }
  console.log(`${number}: ${answer}`);
});
lines.on('close', () => process.exit(0));
