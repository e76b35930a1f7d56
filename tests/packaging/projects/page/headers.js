// A page that only strips headers.
import { HeaderStripper } from "hedgerow";

document.title = String(new HeaderStripper(["x-internal-*"]).strip(new Headers()));
