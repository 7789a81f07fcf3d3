/** What the replays of app-server v2 need besides their recordings. */
import type { Entry } from "./Recording.ts"
import type { ThreadReplay } from "./ThreadReplaying.ts"

/** The replays, by recording name. */
export const threadReplays: Readonly<
  Record<string, (entries: ReadonlyArray<Entry>) => ThreadReplay>
> = {}
