/** Maps file system faults to the `StoreError` that callers of the store get. Pure. */
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Effect from "effect/Effect"
import { FileFault } from "../Files.ts"

const reasons: Readonly<Record<string, StoreError["reason"]>> = {
  ENOSPC: "Full",
  EDQUOT: "Full",
  EFBIG: "Full",
  EACCES: "Denied",
  EPERM: "Denied",
  EROFS: "Denied",
  ENOENT: "Gone",
  ENOTDIR: "Gone",
  ESTALE: "Gone",
  EEXIST: "Exists",
  ELOOP: "Outside",
  EMFILE: "Exhausted",
  ENFILE: "Exhausted",
  ENOMEM: "Exhausted",
}

const meanings: Readonly<Partial<Record<StoreError["reason"], string>>> = {
  Full: "there is no space left",
  Denied: "a permission is missing",
  Gone: "it was moved or removed",
  Exists: "something exists at this path",
  Outside: "it is a link",
  Exhausted: "no file descriptor or memory is left",
}

/**
 * The error for a fault: its reason, and a message that names the path, the meaning and the
 * system's code.
 */
export const storeError = (operation: StoreError["operation"], fault: FileFault): StoreError => {
  const reason = reasons[fault.code] ?? "Other"
  const meaning = meanings[reason]
  return new StoreError({
    operation,
    reason,
    message: `${fault.path}: ${meaning === undefined ? "" : `${meaning} `}(${fault.operation}: ${fault.code})`,
  })
}

/** Replaces file system faults of an operation by the `StoreError` that they mean. */
export const mapFileFaults =
  (operation: StoreError["operation"]) =>
  <A, E, R>(effect: Effect.Effect<A, E | FileFault, R>) =>
    Effect.mapError(effect, (error) =>
      error instanceof FileFault ? storeError(operation, error) : error,
    ) as Effect.Effect<A, Exclude<E, FileFault> | StoreError, R>
