import { hashKey } from '@terrane/auth'
import type { Database } from '@terrane/database'
import { networkOf } from '@terrane/service'

/** Delay of the next attempt after failures: none for the first ones, then it doubles up to a maximum. */
interface Rule {
  readonly free: number
  readonly longestSeconds: number
}

/** Rules for failures at one account from one address, and for failures from one address at any account. */
const ACCOUNT: Rule = { free: 5, longestSeconds: 300 }
const ADDRESS: Rule = { free: 20, longestSeconds: 900 }
/** Failures are forgotten after an hour without one. */
const MEMORY_SECONDS = 3600

/** An attempt to sign in, counted as failed until it succeeds. */
export interface Attempt {
  /** Seconds to wait before the password may be checked; 0 for none. */
  readonly waitSeconds: number
  /** Number of recent failed sign-ins from that address. */
  readonly failures: number
  /** Removes the failure that was counted for the attempt, and earlier ones at the account. */
  succeeded(): Promise<void>
}

/**
 * Limits sign-ins by account and address together, and by address, for all processes together. No limit is by account
 * alone, because anyone who knows an e-mail address could lock its owner out. An attempt is counted as failed before
 * the password is checked, in one statement, so that simultaneous guesses cannot pass the limit together.
 */
export class SignInLimits {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Counts an attempt, unless it has to wait. */
  async begin(email: string, address: string): Promise<Attempt> {
    const network = networkOf(address)
    const from = subjectOf('address', network)
    const account = subjectOf('account', `${network} ${email}`)
    const ofAddress = await this.#count(from, ADDRESS)
    return {
      waitSeconds: ofAddress.waitSeconds || (await this.#count(account, ACCOUNT)).waitSeconds,
      failures: ofAddress.failures - 1,
      succeeded: async () => {
        await this.#database.query(
          `with forgotten as (
             delete from terrane.sign_in_limits
             where subject = $1 or updated_at < clock_timestamp() - $3 * interval '1 second')
           update terrane.sign_in_limits set failures = greatest(failures - 1, 0), blocked_until = updated_at
           where subject = $2`,
          [account, from, MEMORY_SECONDS],
        )
      },
    }
  }

  /** Adds a failure unless the subject has to wait; returns the wait in seconds and the number of failures. */
  async #count(subject: string, rule: Rule): Promise<{ waitSeconds: number; failures: number }> {
    const { rows: counted } = await this.#database.query<{ failures: number }>(
      `insert into terrane.sign_in_limits as l (subject, failures, blocked_until, updated_at)
       values ($1, 1, clock_timestamp(), clock_timestamp())
       on conflict (subject) do update set
         failures = case when l.updated_at < clock_timestamp() - $4 * interval '1 second' then 1 else l.failures + 1 end,
         blocked_until = clock_timestamp() + interval '1 second' * case
           when l.updated_at < clock_timestamp() - $4 * interval '1 second' or l.failures + 1 < $2 then 0
           else least($3, 2 ^ least(l.failures + 1 - $2, 20)) end,
         updated_at = clock_timestamp()
       where l.blocked_until <= clock_timestamp()
       returning failures`,
      [subject, rule.free, rule.longestSeconds, MEMORY_SECONDS],
    )
    if (counted[0]) return { waitSeconds: 0, failures: counted[0].failures }
    const { rows } = await this.#database.query<{ seconds: number }>(
      `select greatest(1, ceil(extract(epoch from blocked_until - clock_timestamp())))::int as seconds
       from terrane.sign_in_limits where subject = $1`,
      [subject],
    )
    return { waitSeconds: rows[0]?.seconds ?? 1, failures: 1 }
  }
}

function subjectOf(kind: string, value: string): string {
  return hashKey(`${kind}:${value}`)
}
