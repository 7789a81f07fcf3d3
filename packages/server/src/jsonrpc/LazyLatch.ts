/** A latch that nobody has waited for yet costs two words: most of those of an idle connection are never waited for. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

/** A latch that is created when it is first awaited. */
export class LazyLatch {
  private latch: Latch.Latch | undefined
  private isOpen: boolean

  /** @param isOpen whether waiting ends at once */
  constructor(isOpen: boolean) {
    this.isOpen = isOpen
  }

  /** Resolves when the latch is open. */
  get await(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.isOpen) return Effect.void
      this.latch ??= Latch.makeUnsafe(false)
      return this.latch.await
    })
  }

  /** As `openUnsafe`; those who wait continue after the fiber that runs it. */
  get open(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.isOpen = true
      return this.latch === undefined ? Effect.void : Effect.asVoid(this.latch.open)
    })
  }

  /** Lets all who wait continue, and all later ones until it is closed. */
  openUnsafe(): void {
    this.isOpen = true
    this.latch?.openUnsafe()
  }

  /** Lets those wait who come from now on. */
  closeUnsafe(): void {
    this.isOpen = false
    this.latch?.closeUnsafe()
  }
}
