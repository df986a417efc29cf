import type { FunctionVersion } from '../function-version.ts'
import type { FunctionEvents } from '../functions.ts'
import type { Invocation } from '../gateway/invocation/invocation.ts'
import type { ExitReason } from '../pool/exit.ts'
import type { FunctionLine } from '../pool/output.ts'
import type { LogBook } from './log-book.ts'
import type { FunctionMetrics } from './metrics.ts'

const WILLED: ReadonlySet<ExitReason> = new Set(['idle', 'replaced', 'stopped'])

/** Passes all events of functions to the log and the metrics. */
export interface Observer extends FunctionEvents {
  line(version: FunctionVersion, line: FunctionLine, requestId: string | null): void
  called(invocation: Invocation): void
}

export function createObserver(logBook: LogBook, metrics: FunctionMetrics): Observer {
  return {
    pool: (version) => ({
      started(instance, bootMs) {
        metrics.started(version, bootMs)
        logBook.event('info', version, 'instance started', { instance: instance.id, ms: Math.round(bootMs) })
      },
      bootFailed({ message, detail }) {
        metrics.bootFailed(version)
        logBook.event('error', version, 'instance does not start', { reason: message, detail })
      },
      exited(instance, exit) {
        metrics.exited(version, exit)
        const { reason, code, signal, stderr } = exit
        if (WILLED.has(reason)) logBook.event('info', version, 'instance ended', { instance: instance.id, reason })
        else logBook.event('warn', version, 'instance ended', { instance: instance.id, reason, code, signal, stderr })
      },
    }),
    live: (version) => logBook.event('info', version, 'version live', { digest: version.digest.slice(0, 12) }),
    removed: (version) => logBook.event('info', version, 'function removed'),
    line(version, line, requestId) {
      if (line.dropped > 0) metrics.linesLost(version, line.dropped)
      logBook.line(version, line, requestId)
    },
    called(invocation) {
      const { functionVersion, status, problem, bytesIn, bytesOut, startedAt, requestId } = invocation
      const { version } = functionVersion
      const elapsed = performance.now() - startedAt
      metrics.called(functionVersion, { status, problem, ms: elapsed })
      const ms = Math.round(elapsed * 10) / 10
      logBook.call(functionVersion, { version, requestId, status, problem, ms, bytesIn, bytesOut })
    },
  }
}
