//! Static metadata and the factory table: what the registry says, as constants.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::{Files, doc, params};
use crate::names;
use crate::registry::model::{Category, Localized, Param, ParamKind, Provider, Tool};

pub(super) fn categories(categories: &[Category], files: Files<'_>) -> TokenStream {
    let entries = categories.iter().map(|category| {
        let (name, label, icon) =
            (&category.name.value, text(&category.label), files.included(&category.icon));
        quote!(crate::runtime::Category { category: #name, name: #label, icon: include_str!(#icon) })
    });
    quote! {
        /// The categories, in the order of `categories.yaml`.
        pub static CATEGORIES: &[crate::runtime::Category] = &[#(#entries,)*];
    }
}

pub(super) fn providers(providers: &[Provider], files: Files<'_>) -> TokenStream {
    let names = providers.iter().map(|provider| &provider.name.value);
    let entries = providers.iter().map(|entry| provider(entry, files));
    quote! {
            /// The providers by name, in the order of `providers.yaml`.
    pub static PROVIDERS: crate::runtime::Registry = phf::phf_ordered_map! { #(#names => #entries,)* };
        }
}

fn provider(provider: &Provider, files: Files<'_>) -> TokenStream {
    let Provider { name, background, category, available, .. } = provider;
    let (name, label, description) = (&name.value, text(&provider.label), text(&provider.description));
    let (icon, media_type) = (files.included(&provider.icon.path), provider.icon.media_type);
    let credentials = provider.credentials.iter().map(param);
    let module = format_ident!("{name}");
    let tools = provider.tools.iter().map(|tool| {
        let (key, entry) = (&tool.name, format_ident!("{}", tool.name.to_uppercase()));
        quote!(#key => &#module::#entry)
    });
    quote! {
        crate::runtime::Provider {
            name: #name,
            label: #label,
            description: #description,
            icon: crate::runtime::Icon { bytes: include_bytes!(#icon), media_type: #media_type },
            background: #background,
            category: #category,
            available: #available,
            credentials: &[#(#credentials,)*],
            tools: phf::phf_ordered_map! { #(#tools,)* },
        }
    }
}

/// One tool's entry: the factory is named by its path, so that without it nothing compiles.
pub(super) fn entry(provider: &Provider, tool: &Tool) -> TokenStream {
    let (provider, name) = (&provider.name.value, &tool.name);
    let about = doc(&format!("What the registry says of `{provider}/{name}`, and its factory."));
    let entry = format_ident!("{}", name.to_uppercase());
    let factory = format_ident!("{name}");
    let (args, typed) = (format_ident!("{}Args", names::type_name(name)), params::struct_name(tool));
    let (label, description) = (text(&tool.label), text(&tool.description));
    let params = tool.params.iter().map(param);
    let a = tool.annotations;
    let (read_only, destructive, idempotent, open_world) =
        (a.read_only, a.destructive, a.idempotent, a.open_world);
    quote! {
        #about
        pub static #entry: crate::runtime::ToolEntry = crate::runtime::ToolEntry {
            provider: #provider,
            name: #name,
            label: #label,
            description: #description,
            annotations: crate::runtime::Annotations {
                read_only: #read_only,
                destructive: #destructive,
                idempotent: #idempotent,
                open_world: #open_world,
            },
            params: &[#(#params,)*],
            spec: crate::runtime::LazySpec::of::<#factory::#args>(),
            build: |values, deps| {
                let tool = #factory::#factory(#typed::try_from(values)?, deps)?;
                Ok(crate::runtime::erase(&#entry, tool))
            },
        };
    }
}

fn param(param: &Param) -> TokenStream {
    let (name, label, required) = (&param.name.value, text(&param.label), param.required);
    let help = option(param.help.as_ref().map(text));
    let kind = kind(&param.kind);
    quote! {
        crate::runtime::Param { name: #name, label: #label, help: #help, required: #required, kind: #kind }
    }
}

fn kind(kind: &ParamKind) -> TokenStream {
    match kind {
        ParamKind::String { default } => {
            let default = option(default.as_ref());
            quote!(crate::runtime::ParamKind::String { default: #default })
        }
        ParamKind::Number { default, min, max } => {
            let [default, min, max] = [default, min, max].map(|value| option(value.map(float)));
            quote!(crate::runtime::ParamKind::Number { default: #default, min: #min, max: #max })
        }
        ParamKind::Integer { default, min, max } => {
            let [default, min, max] = [default, min, max].map(|value| option(value.map(integer)));
            quote!(crate::runtime::ParamKind::Integer { default: #default, min: #min, max: #max })
        }
        ParamKind::Boolean { default } => {
            let default = option(default.as_ref());
            quote!(crate::runtime::ParamKind::Boolean { default: #default })
        }
        ParamKind::Select { default, options } => {
            let default = option(default.as_ref());
            let options = options.iter().map(|choice| {
                let (value, label) = (&choice.value, text(&choice.label));
                quote!(crate::runtime::Choice { value: #value, label: #label })
            });
            quote!(crate::runtime::ParamKind::Select { default: #default, options: &[#(#options,)*] })
        }
        ParamKind::Password => quote!(crate::runtime::ParamKind::Password),
    }
}

fn text(text: &Localized) -> TokenStream {
    let (en_us, zh_hans) = (&text.en_us, &text.zh_hans);
    quote!(crate::runtime::Text { en_us: #en_us, zh_hans: #zh_hans })
}

fn option<T: ToTokens>(value: Option<T>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

fn float(value: f64) -> TokenStream {
    let sign = value.is_sign_negative().then(|| quote!(-));
    let digits = Literal::f64_unsuffixed(value.abs());
    quote!(#sign #digits)
}

fn integer(value: i64) -> TokenStream {
    let sign = value.is_negative().then(|| quote!(-));
    let digits = Literal::u64_unsuffixed(value.unsigned_abs());
    quote!(#sign #digits)
}
