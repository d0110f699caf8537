"""The papers' results: experiments, the ledger they are kept in, and the page that shows them."""
