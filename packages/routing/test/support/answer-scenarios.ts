import { MODES } from '../../src/cost/options.ts'
import { readNetworkFile } from '../../src/network/file.ts'
import { Router } from '../../src/router.ts'
import { optionBounds, readAround } from './option-bounds.ts'
import { differences, outcomeOf, recordedOutcomes } from './outcome.ts'
import { type PlacedAsk, scenarioNetwork } from './scenario-town.ts'

/**
 * Whether all options and answers equal the recorded ones; stops at the first difference.
 *
 * @param first modes whose asks come first
 * @param graphPath a graph that was built before; only costs are new then, so that changes of turns, and of what only keeps
 * searches away, need one that is built here
 */
export async function answersAsRecorded(
  asks: readonly PlacedAsk[],
  first: readonly string[],
  graphPath?: string,
): Promise<boolean> {
  for (const mode of MODES) {
    for (const [name, [least, fallback, most]] of optionBounds(mode)) {
      const read = readAround(mode, name, [least, fallback, most])
      if (read.join(' ') !== [fallback, least, most, fallback, fallback].join(' ')) return false
    }
  }
  const recorded = recordedOutcomes()
  const isFirst = ({ request }: PlacedAsk): boolean =>
    first.includes((JSON.parse(request) as { costing: string }).costing)
  const router = new Router(await (graphPath === undefined ? scenarioNetwork() : readNetworkFile(graphPath)))
  // Hierarchies are not customized for costing options, because each is used only a few times.
  await router.close()
  return [...asks.filter(isFirst), ...asks.filter((ask) => !isFirst(ask))].every(
    ({ name, request, places }) =>
      differences(outcomeOf(router.answer(request).body, places), recorded.get(name)!).length === 0,
  )
}
