/** Checks of the list of differences and of the replays. */
import { type Difference, isExplained, type Proof } from "../differences/Difference.ts"
import { differences } from "../differences/Differences.ts"
import type { Mismatch } from "./Compare.ts"
import type { Version } from "./Recording.ts"

const explaining = (
  version: Version,
  name: string,
  mismatch: Mismatch,
): ReadonlyArray<Difference> =>
  differences.filter((difference) => isExplained(difference, version, name, mismatch))

/** Mismatches that no difference explains. */
export const unexplained = (
  version: Version,
  name: string,
  mismatches: ReadonlyArray<Mismatch>,
): ReadonlyArray<Mismatch> =>
  mismatches.filter((mismatch) => explaining(version, name, mismatch).length === 0)

/** The mismatches in the exchanges of a proof that the replay cannot explain without the difference. */
export const shownBy = (
  difference: Difference,
  { recording, requests, version }: Proof,
  mismatches: ReadonlyArray<Mismatch>,
): ReadonlyArray<Mismatch> =>
  mismatches.filter((mismatch) => {
    const keys = explaining(version, recording, mismatch)
    return (
      (requests.length === 0 || requests.includes(mismatch.request)) &&
      keys.length === 1 &&
      keys[0] === difference
    )
  })

/** Every proof by recordings of this version, with its difference. */
export const proofsOf = (
  version: Version,
): ReadonlyArray<readonly [title: string, difference: Difference, proof: Proof]> =>
  differences.flatMap((difference) =>
    difference.proofs.flatMap((proof) =>
      proof.version === version
        ? [
            [
              `${difference.key} by ${proof.recording} of ${proof.version}`,
              difference,
              proof,
            ] as const,
          ]
        : [],
    ),
  )
