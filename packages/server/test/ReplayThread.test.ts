import { version } from "./differences/ThreadExplain.ts"
import { replaySuite } from "./support/ReplaySuite.ts"

replaySuite("the app-server v2", [version])
