/**
 * A difference between Colloquy and the original that a user can observe, in words for users and with its proof.
 *
 * All differences are in one list, `Differences.ts`, from which the tables of packages/docs/compatibility.md are generated. The tests hold:
 * a replay shows no mismatch that no difference explains, and each proof shows a mismatch that only its difference
 * explains, so that removing the difference makes that replay fail.
 *
 * To add a difference:
 *
 * 1. Find an exchange that shows it: a request in a recording under `test/fixtures/v<version>`. If no recording shows
 *    it, record a session with that version of the original, or write one in the same format under
 *    the same directory, named `written_….jsonl`, with a first line `{"dir":"note","msg":{"event":"written",…}}` that says which
 *    documented behaviour the expected messages come from. If the behaviour of the original is neither recorded nor
 *    documented, do not add a difference.
 * 2. For a new recording, add the replay (what the scripted provider answers) to the module of replays of its version:
 *    `support/Replays029.ts`, `support/Replays153.ts`, `support/AppReplays.ts` or, where more than the recorded items is
 *    needed, `support/ThreadReplays.ts`. A recording that needs the built program
 *    (its commands really run, or it is about the start, files or the network) belongs to `v<version>-commands` and
 *    `packages/cli/test/support/CommandReplays.ts`.
 * 3. Add the difference to the part of its table, in this directory. `explains` is as narrow as possible: it checks the
 *    kind, the place and the values of a mismatch. Prove it with `only(version, recording, ...requests)`; use
 *    `everywhere` when the mismatch occurs in most recordings of the version.
 * 4. Run `npm run docs`, which writes the tables to packages/docs/compatibility.md.
 *
 * A changed behaviour that removes a difference makes its proof fail: delete the difference and run `npm run docs`.
 */
import type { Mismatch } from "../support/Compare.ts"
import type { Version } from "../support/Recording.ts"

/** The exchanges of one recording that show a difference. */
export interface Proof {
  readonly version: Version
  readonly recording: string
  /** Ids of the requests, as JSON; requests of the server count from 0. Empty: any message of the recording. */
  readonly requests: ReadonlyArray<string>
  /** True when the difference may also explain mismatches in every other recording of the version. */
  readonly everywhere: boolean
}

export const only = (
  version: Version,
  recording: string,
  ...requests: ReadonlyArray<string>
): Proof => ({ version, recording, requests, everywhere: false })

export const everywhere = (
  version: Version,
  recording: string,
  ...requests: ReadonlyArray<string>
): Proof => ({ version, recording, requests, everywhere: true })

export interface Difference {
  /** Unique in the list. */
  readonly key: string
  /** What the original does. */
  readonly original: string
  /** What Colloquy does instead. */
  readonly colloquy: string
  readonly why: string
  /** At least one; together they name the versions of the original that the difference is about. */
  readonly proofs: ReadonlyArray<Proof>
  /** True for a mismatch that is this difference. */
  readonly explains: (mismatch: Mismatch) => boolean
}

/** Recordings of commands are of the same surface of the original as the other MCP recordings. */
const surfaceOf = (version: Version): string => version.replace("-commands", "")

/** True when the proof shows, or allows, this mismatch of a replay. */
const covers = (
  proof: Proof,
  version: Version,
  recording: string,
  { request }: Mismatch,
): boolean =>
  proof.everywhere
    ? surfaceOf(proof.version) === surfaceOf(version)
    : proof.version === version &&
      proof.recording === recording &&
      (proof.requests.length === 0 || proof.requests.includes(request))

/** True when the difference explains this mismatch of a replay. */
export const isExplained = (
  { explains, proofs }: Difference,
  version: Version,
  recording: string,
  mismatch: Mismatch,
): boolean =>
  proofs.some((proof) => covers(proof, version, recording, mismatch)) && explains(mismatch)
