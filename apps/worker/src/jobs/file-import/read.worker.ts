// The reading process of imports: it encodes rows for COPY.
import { serveProcess } from '@terrane/files/process'
import { RowPacker, type RowPlan } from './row-packer.ts'

await serveProcess((plan, send) => new RowPacker(plan as RowPlan, send))
