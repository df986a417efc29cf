import { quoteIdentifier } from '@terrane/database'
import { conditionList, type Embed, type Resource } from '@terrane/database/rest-query'
import { aliasOf, embedded, type ReadContext, type Source } from './sources.ts'

/** SQL that counts the rows of a resource without its page. */
export function countSql(resource: Resource, source: Source, context: ReadContext): string {
  return `select count(*) ${matching(resource, source, context)}`
}

/** `from … where …` for the rows of a resource. Each embedded resource that filters the rows occurs once. */
function matching(resource: Resource, source: Source, context: ReadContext): string {
  const alias = quoteIdentifier(source.alias)
  const exists = (embed: Embed) => `exists (select ${matching(embed, embedded(embed, source, context).child, context)})`
  const mentioned = new Map<Embed, string>()
  const hasRows = (name: string) => {
    const embed = resource.embeds.find((e) => (e.alias ?? e.target) === name)
    if (!embed) return null
    const found = `found_${source.depth}_${resource.embeds.indexOf(embed)}`
    const flag = mentioned.get(embed) ?? quoteIdentifier(aliasOf(found, found, new Set([source.alias])))
    mentioned.set(embed, flag)
    return `${flag}.found`
  }
  const list = conditionList(resource.conditions, alias, context.parameters, hasRows)
  const inner = resource.embeds.filter((embed) => embed.isInner)
  const conditions = [
    ...source.joins,
    ...list,
    ...inner.map((e) => (mentioned.has(e) ? `${mentioned.get(e)}.found` : exists(e))),
  ]
  // `offset 0` keeps the planner from repeating the subquery at each use.
  const flags = [...mentioned].map(
    ([e, flag]) => ` cross join lateral (select ${exists(e)} as found offset 0) as ${flag}`,
  )
  return `from ${source.from} as ${alias}${source.junction}${flags.join('')}${conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`}`
}
