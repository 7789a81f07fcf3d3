import { replaySuite } from "./support/ReplaySuite.ts"

replaySuite("the app-server v2", ["0.169.0"])
